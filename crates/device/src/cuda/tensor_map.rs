//! Tensor maps: what the driver makes of a matrix for the GPU's copy engine (CUDA driver API, "Tensor Map Object").

use super::doing;
use crate::{DeviceError, Launch, TENSOR_MAP_BYTES};
use cudarc::driver::sys;

/// Rows and columns of a block.
const BLOCK: u32 = 64;

/// Writes every tensor map of a launch into its arguments.
pub(super) fn encode(launch: &mut Launch) -> Result<(), DeviceError> {
    for map in &launch.maps {
        let mut encoded = sys::CUtensorMap { opaque: [0; 16] };
        let block = [BLOCK, BLOCK, 1];
        let steps = [1_u32; 3];
        // SAFETY: a live, aligned map; all arrays have the rank's number of elements, and the strides one fewer.
        let made = unsafe {
            sys::cuTensorMapEncodeTiled(
                &mut encoded,
                sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                3,
                map.addr as *mut std::ffi::c_void,
                map.sizes.as_ptr(),
                map.strides.as_ptr(),
                block.as_ptr(),
                steps.as_ptr(),
                sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
                sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        doing(|| format!("describing a matrix of kernel {}: {map:?}", launch.kernel.name), made.result())?;
        let bytes: &[u8] = bytemuck::cast_slice(&encoded.opaque);
        launch.args[map.at..map.at + TENSOR_MAP_BYTES].copy_from_slice(bytes);
    }
    Ok(())
}
