//! A list of commands on a GPU: resolved once, captured into a graph once, replayed.

use super::{
    CudaDevice,
    compile::Build,
    doing,
    gemm::Product,
    lock,
    module::Function,
    reason,
    schedule::{Queued, schedule},
    tensor_map,
};
use crate::{Command, DeviceError, KernelTree, Launch};
use cudarc::driver::{
    result,
    sys::{self, CUgraphInstantiate_flags, CUstreamCaptureMode},
};
use std::{collections::BTreeSet, ffi::c_void, sync::Arc};

/// Members lie along y.
const GRID_Y_LIMIT: u32 = 65_535;
const GRID_X_LIMIT: u32 = i32::MAX as u32;
/// Runs in a graph of several: between two graphs the GPU idles for longer than between two nodes.
const RUNS: u32 = 16;
/// Commands of a program that gets such a graph: in longer ones the time between graphs is lost among them.
const MOST_COMMANDS: usize = 64;

/// Commands, loaded and captured.
pub(crate) struct CudaProgram {
    steps: Vec<Step>,
    graph: sys::CUgraphExec,
    /// [`RUNS`] runs, or null.
    several: sys::CUgraphExec,
    /// Last, so that modules and descriptors go while the device still lives.
    device: Arc<CudaDevice>,
}

// SAFETY: handles of the driver, which may be used from any thread; the device makes its context current.
unsafe impl Send for CudaProgram {}
// SAFETY: as above; a replay takes the device's queue lock.
unsafe impl Sync for CudaProgram {}

enum Step {
    Launch(Kernel),
    Gemm(Box<Product>),
}

struct Kernel {
    function: Function,
    launch: Launch,
    grid: (u32, u32),
}

impl CudaProgram {
    pub(crate) fn compile(
        device: &Arc<CudaDevice>,
        tree: &KernelTree,
        commands: Vec<Command>,
    ) -> Result<Self, DeviceError> {
        device.bind()?;
        let builds: BTreeSet<Build> = commands
            .iter()
            .filter_map(|c| match c {
                Command::Launch(launch) => Some(Build::of(launch)),
                Command::Gemm(_) => None,
            })
            .collect();
        let modules = device.modules(tree, &builds)?;
        let mut steps = Vec::with_capacity(commands.len());
        for command in commands {
            steps.push(match command {
                Command::Launch(launch) => {
                    let module = modules.get(&Build::of(&launch)).ok_or_else(|| DeviceError::Module {
                        file: launch.kernel.file.to_owned(),
                        what: "was not loaded".into(),
                    })?;
                    Step::Launch(Kernel::new(device.function(module, launch.kernel)?, launch)?)
                }
                Command::Gemm(gemm) => Step::Gemm(Box::new(device.product(gemm)?)),
            });
        }
        let none = std::ptr::null_mut();
        let mut program = CudaProgram { steps, graph: none, several: none, device: device.clone() };
        if !program.steps.is_empty() {
            program.graph = program.capture(1)?;
            if program.steps.len() <= MOST_COMMANDS {
                program.several = program.capture(RUNS)?;
            }
        }
        Ok(program)
    }

    /// `runs` runs of the commands as a graph, instantiated and uploaded.
    fn capture(&self, runs: u32) -> Result<sys::CUgraphExec, DeviceError> {
        let device = &*self.device;
        let stream = device.stream;
        let what =
            |part: &'static str| move || format!("{part} a graph of {runs} x {} commands", self.steps.len());
        let _queue = lock(&device.queue);
        // Relaxed: cuBLASLt loads its kernels at their first use, which the stricter modes forbid; what other threads
        // queue on this stream is kept out by the lock.
        // SAFETY: a live stream that isn't capturing: captures begin and end under the lock.
        doing(what("beginning to capture"), unsafe {
            result::stream::begin_capture(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)
        })?;
        let queued = self.queue_branches(runs);
        let mut graph = std::ptr::null_mut();
        // SAFETY: the stream is capturing; capture must end even where a command failed.
        let ended = unsafe { sys::cuStreamEndCapture(stream, &mut graph) }.result();
        // The command's own error says more than that of the capture which it broke.
        let made = queued.and_then(|()| doing(what("capturing"), ended)).and_then(|()| {
            // SAFETY: a graph that was captured whole.
            let exec = doing(what("instantiating"), unsafe {
                result::graph::instantiate(graph, CUgraphInstantiate_flags(0))
            })?;
            // SAFETY: a live graph and stream. Uploaded now, so that the first replay is as fast as the others.
            match doing(what("uploading"), unsafe { result::graph::upload(exec, stream) }) {
                Ok(()) => Ok(exec),
                Err(e) => {
                    self.destroy(exec);
                    Err(e)
                }
            }
        });
        if !graph.is_null() {
            // SAFETY: ended above; an instantiated graph stands on its own.
            if let Err(e) = unsafe { result::graph::destroy(graph) } {
                device.faults.record(format!("destroying a captured graph: {}", reason(e)));
            }
        }
        made
    }

    /// Queues `runs` runs for a capture, in the order of [`schedule`].
    fn queue_branches(&self, runs: u32) -> Result<(), DeviceError> {
        let device = &*self.device;
        let launches: Vec<Option<&Launch>> = self.steps.iter().map(Step::launch).collect();
        let step = |i: usize| &self.steps[i % self.steps.len()];
        for queued in schedule(&launches, runs as usize) {
            match queued {
                Queued::Fork => device.follow(device.side, device.stream)?,
                Queued::Join => device.follow(device.stream, device.side)?,
                Queued::Side(i) => step(i).queue(device, device.side, false)?,
                Queued::Main { at, early } => {
                    step(at).queue(device, device.stream, early && device.begins_early())?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn run(&self, times: u32) -> Result<(), DeviceError> {
        let device = &*self.device;
        if self.graph.is_null() || device.careful {
            return (0..times).try_for_each(|_| self.run_eager());
        }
        device.bind()?;
        let _queue = lock(&device.queue);
        let replay = |graph| {
            // SAFETY: a live graph and stream; the arenas that it points into outlive the program.
            doing(|| format!("replaying a graph of {} commands", self.steps.len()), unsafe {
                result::graph::launch(graph, device.stream)
            })
        };
        let several = if self.several.is_null() { 0 } else { times / RUNS };
        (0..several).try_for_each(|_| replay(self.several))?;
        (0..times - several * RUNS).try_for_each(|_| replay(self.graph))
    }

    pub(crate) fn run_eager(&self) -> Result<(), DeviceError> {
        let device = &*self.device;
        device.bind()?;
        let _queue = lock(&device.queue);
        for (i, step) in self.steps.iter().enumerate() {
            step.queue(device, device.stream, false)?;
            if device.careful {
                device.wait(|| format!("command {i}: {}", step.describe()))?;
            }
        }
        Ok(())
    }

    pub(crate) fn gemm_record(&self) -> Vec<String> {
        self.steps
            .iter()
            .filter_map(|s| match s {
                Step::Gemm(product) => Some(product.record.clone()),
                Step::Launch(_) => None,
            })
            .collect()
    }

    fn destroy(&self, graph: sys::CUgraphExec) {
        // SAFETY: instantiated in `capture`, destroyed once; the driver waits for replays under way.
        if let Err(e) = unsafe { result::graph::exec_destroy(graph) } {
            self.device.faults.record(format!("destroying a graph: {}", reason(e)));
        }
    }
}

impl Drop for CudaProgram {
    fn drop(&mut self) {
        if let Err(e) = self.device.bind() {
            self.device.faults.record(e);
        }
        for graph in [self.graph, self.several].into_iter().filter(|graph| !graph.is_null()) {
            self.destroy(graph);
        }
    }
}

impl Step {
    /// Queues the command on the stream, or adds it to the capture; a launch so that it begins `early`, if that is said.
    fn queue(&self, device: &CudaDevice, stream: sys::CUstream, early: bool) -> Result<(), DeviceError> {
        match self {
            Step::Launch(kernel) => kernel.queue(stream, early),
            Step::Gemm(product) => device.queue_product(product),
        }
    }

    fn launch(&self) -> Option<&Launch> {
        match self {
            Step::Launch(kernel) => Some(&kernel.launch),
            Step::Gemm(_) => None,
        }
    }

    fn describe(&self) -> String {
        match self {
            Step::Launch(kernel) => {
                let l = &kernel.launch;
                format!(
                    "kernel {} ({}), {}; buffers: {}",
                    l.kernel.name,
                    l.dtype,
                    kernel.shape(),
                    l.buffers()
                )
            }
            Step::Gemm(product) => format!("matrix product {}", product.record),
        }
    }
}

impl Kernel {
    fn new(function: Function, mut launch: Launch) -> Result<Self, DeviceError> {
        let info = function.info;
        tensor_map::encode(&mut launch)?;
        launch.check_args(&info)?;
        let grid = (launch.teams.div_ceil(info.teams), launch.members);
        let kernel = Kernel { function, launch, grid };
        let wrong = |what: String| Err(kernel.error(what));
        if grid.0 == 0 || grid.1 == 0 {
            return wrong("nothing to do".into());
        }
        if grid.0 > GRID_X_LIMIT || grid.1 > GRID_Y_LIMIT {
            return wrong(format!("a grid ends at {GRID_X_LIMIT} x {GRID_Y_LIMIT}"));
        }
        Ok(kernel)
    }

    fn queue(&self, stream: sys::CUstream, early: bool) -> Result<(), DeviceError> {
        let mut params = [self.launch.args.as_ptr() as *mut c_void];
        let mut attribute = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
        };
        let config = sys::CUlaunchConfig {
            gridDimX: self.grid.0,
            gridDimY: self.grid.1,
            gridDimZ: 1,
            blockDimX: self.function.info.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: self.function.info.shared_bytes,
            hStream: stream,
            attrs: &mut attribute,
            numAttrs: early.into(),
        };
        // SAFETY: the function is live; its only parameter is a struct of `args.len()` bytes, as the kernel itself
        // says, which the driver copies before it returns; the launcher checked the buffers that it points to. Configuration and
        // attribute live until the call returns.
        let launched = unsafe {
            sys::cuLaunchKernelEx(&config, self.function.handle, params.as_mut_ptr(), std::ptr::null_mut())
        };
        launched.result().map_err(|e| self.error(reason(e)))
    }

    fn shape(&self) -> String {
        let info = self.function.info;
        format!(
            "grid {}x{}, block {}, {} bytes of shared memory",
            self.grid.0, self.grid.1, info.threads, info.shared_bytes
        )
    }

    fn error(&self, what: String) -> DeviceError {
        DeviceError::Launch {
            kernel: self.launch.kernel.name,
            dtype: self.launch.dtype,
            shape: self.shape(),
            what,
            buffers: self.launch.buffers(),
        }
    }
}
