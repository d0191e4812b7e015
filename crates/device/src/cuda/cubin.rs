//! What a cubin says of its kernels. It is an ELF file: `<kernel>_info` is an initialised global, static shared
//! memory the size of the section `.nv.shared.<kernel>`. So a build can be checked on a machine without a GPU.

use crate::KernelInfo;
use object::{Object, ObjectSection, ObjectSymbol, read::elf::ElfFile64};
use std::collections::BTreeMap;

/// Bytes at the start of a block's shared memory that the system keeps, counted in the section from compute
/// capability 9.0 on; they don't count against a block's limit.
const RESERVED_SHARED: u64 = 1024;

/// One kernel of a cubin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelImage {
    pub(crate) info: KernelInfo,
    pub(crate) static_shared: u32,
}

/// Every kernel in `cubin`, which was compiled for compute capability `arch` (90 for 9.0).
pub(crate) fn kernels(cubin: &[u8], arch: u32) -> Result<BTreeMap<String, KernelImage>, String> {
    let elf = ElfFile64::<object::Endianness>::parse(cubin).map_err(|e| format!("not a cubin: {e}"))?;
    let mut shared = BTreeMap::new();
    let mut names = Vec::new();
    for section in elf.sections() {
        let name = section.name().map_err(|e| format!("a section without a name: {e}"))?;
        if let Some(kernel) = name.strip_prefix(".nv.shared.") {
            let reserved = if arch >= 90 { RESERVED_SHARED } else { 0 };
            shared.insert(kernel.to_owned(), section.size().saturating_sub(reserved) as u32);
        } else if let Some(kernel) = name.strip_prefix(".text.") {
            names.push(kernel.to_owned());
        }
    }
    let mut infos = BTreeMap::new();
    for symbol in elf.symbols() {
        let Some(kernel) = symbol.name().ok().and_then(|n| n.strip_suffix("_info")) else { continue };
        let Some(index) = symbol.section_index() else { continue };
        let bytes = elf
            .section_by_index(index)
            .and_then(|s| Ok((s.address(), s.data()?)))
            .map_err(|e| format!("{kernel}_info: {e}"))
            .and_then(|(address, data)| {
                let start = symbol.address().saturating_sub(address) as usize;
                data.get(start..start + size_of::<KernelInfo>())
                    .ok_or_else(|| format!("{kernel}_info lies outside its section"))
            })?;
        infos.insert(kernel.to_owned(), bytemuck::pod_read_unaligned::<KernelInfo>(bytes));
    }
    names
        .into_iter()
        .map(|name| {
            let info = *infos.get(&name).ok_or_else(|| format!("kernel {name} has no {name}_info"))?;
            let static_shared = shared.get(&name).copied().unwrap_or(0);
            Ok((name, KernelImage { info, static_shared }))
        })
        .collect()
}
