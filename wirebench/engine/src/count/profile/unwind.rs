//! The call stack of a thread from its registers and a copy of the top of its stack, by the unwind tables of its programs: the C
//! library, in which threads wait, has no frame pointers.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::rc::Rc;

use framehop::{
    CacheNative, ExplicitModuleSectionInfo, FrameAddress, MayAllocateDuringUnwind, Module, UnwindRegsNative,
    Unwinder as _, UnwinderNative,
};
use linux_perf_data::linux_perf_event_reader::Regs;
use object::{Object as _, ObjectSection as _};

use crate::count::profile::symbols::Loaded;

/// Frames of a stack, at most.
const DEEPEST: usize = 128;

/// Unwinds the stacks of one process.
pub(super) type Unwinder = UnwinderNative<Rc<[u8]>, MayAllocateDuringUnwind>;

/// The unwind tables of programs and libraries, each read once.
#[derive(Default)]
pub(super) struct UnwindTables {
    files: HashMap<Rc<str>, Option<Tables>>,
    cache: CacheNative<MayAllocateDuringUnwind>,
}

struct Tables {
    sections: ExplicitModuleSectionInfo<Rc<[u8]>>,
    loaded: Loaded,
}

impl UnwindTables {
    /// The unwinder of a process with these parts of files in its address space: path, addresses, offset in the file. Other code has
    /// frame pointers.
    pub(super) fn unwinder<'a>(&mut self, mappings: impl Iterator<Item = (&'a Rc<str>, Range<u64>, u64)>) -> Unwinder {
        let mut unwinder = Unwinder::new();
        for (path, addresses, offset) in mappings {
            let tables = self.files.entry(Rc::clone(path)).or_insert_with(|| Tables::read(path));
            let address = tables.as_ref().and_then(|tables| tables.loaded.address_of(offset));
            if let Some((tables, address)) = tables.as_ref().zip(address) {
                let base = addresses.start.wrapping_sub(address);
                unwinder.add_module(Module::new(path.to_string(), addresses, base, tables.sections.clone()));
            }
        }
        unwinder
    }

    /// The addresses of the code on a stack, innermost first, as far as the copy reaches.
    pub(super) fn unwind(&mut self, unwinder: &Unwinder, registers: &Regs, stack: &[u8]) -> Vec<u64> {
        let Some((pc, sp, registers)) = native(registers) else {
            return Vec::new();
        };
        let mut word = |address: u64| {
            let at = usize::try_from(address.checked_sub(sp).ok_or(())?).map_err(|_| ())?;
            let bytes = stack.get(at..).and_then(|rest| rest.first_chunk()).ok_or(())?;
            Ok(u64::from_ne_bytes(*bytes))
        };
        let mut frames = unwinder.iter_frames(pc, registers, &mut self.cache, &mut word);
        let addresses = std::iter::from_fn(|| frames.next().ok().flatten());
        addresses.map(FrameAddress::address_for_lookup).take(DEEPEST).collect()
    }
}

/// The instruction pointer, the stack pointer and all registers that unwinding needs.
fn native(registers: &Regs) -> Option<(u64, u64, UnwindRegsNative)> {
    #[cfg(target_arch = "x86_64")]
    {
        use linux_perf_data::linux_perf_event_reader::constants::{PERF_REG_X86_BP, PERF_REG_X86_IP, PERF_REG_X86_SP};
        let [ip, sp, bp] = [PERF_REG_X86_IP, PERF_REG_X86_SP, PERF_REG_X86_BP].map(|register| registers.get(register));
        Some((ip?, sp?, UnwindRegsNative::new(ip?, sp?, bp?)))
    }
    #[cfg(target_arch = "aarch64")]
    {
        use linux_perf_data::linux_perf_event_reader::constants::{
            PERF_REG_ARM64_LR, PERF_REG_ARM64_PC, PERF_REG_ARM64_SP, PERF_REG_ARM64_X29,
        };
        let registers = [
            PERF_REG_ARM64_PC,
            PERF_REG_ARM64_LR,
            PERF_REG_ARM64_SP,
            PERF_REG_ARM64_X29,
        ]
        .map(|register| registers.get(register));
        let [pc, lr, sp, fp] = registers;
        Some((pc?, sp?, UnwindRegsNative::new(lr?, sp?, fp?)))
    }
}

impl Tables {
    /// `None` if the file does not exist or is no program.
    fn read(path: &str) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let object = object::File::parse(bytes.as_slice()).ok()?;
        let section = |name: &str| object.section_by_name(name);
        let addresses = |name: &str| section(name).map(|found| found.address()..found.address() + found.size());
        let data = |name: &str| Some(section(name)?.uncompressed_data().ok()?.as_ref().into());
        Some(Self {
            loaded: Loaded::of(&object),
            sections: ExplicitModuleSectionInfo {
                text_svma: addresses(".text"),
                text: data(".text"),
                got_svma: addresses(".got"),
                eh_frame_svma: addresses(".eh_frame"),
                eh_frame: data(".eh_frame"),
                eh_frame_hdr_svma: addresses(".eh_frame_hdr"),
                eh_frame_hdr: data(".eh_frame_hdr"),
                debug_frame: data(".debug_frame"),
                ..ExplicitModuleSectionInfo::default()
            },
        })
    }
}
