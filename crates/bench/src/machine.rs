//! The machine of a measurement.

use anyhow::Context;

/// A maker of processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vendor {
    /// Intel.
    Intel,
    /// AMD.
    Amd,
}

/// The processors of this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Processors {
    /// The vendor, if it has targets of its own.
    pub(crate) vendor: Option<Vendor>,
    model: String,
    cores: usize,
}

impl Processors {
    /// The processors of this machine.
    pub(crate) fn of_this_machine() -> anyhow::Result<Self> {
        let cores = std::thread::available_parallelism().context("the number of cores is unknown")?;
        Ok(Self::parse(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default(), cores.get()))
    }

    fn parse(cpuinfo: &str, cores: usize) -> Self {
        let value = |label: &str| {
            cpuinfo
                .lines()
                .find_map(|line| line.strip_prefix(label)?.split_once(": "))
                .map(|(_, value)| value)
        };
        let vendor = match value("vendor_id") {
            Some("GenuineIntel") => Some(Vendor::Intel),
            Some("AuthenticAMD") => Some(Vendor::Amd),
            _ => None,
        };
        Self { vendor, model: value("model name").unwrap_or("unknown").to_owned(), cores }
    }
}

impl std::fmt::Display for Processors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} cores ({})", self.cores, self.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vendor_and_model_of_the_processor_are_read_from_cpuinfo() {
        let list = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\n";
        let amd = Processors::parse(list, 2);
        assert_eq!((amd.vendor, amd.to_string().as_str()), (Some(Vendor::Amd), "2 cores (AMD EPYC)"));
        let intel = Processors::parse(&list.replace("AuthenticAMD", "GenuineIntel"), 2);
        assert_eq!(intel.vendor, Some(Vendor::Intel));
        let other = Processors::parse("processor\t: 0\nBogoMIPS\t: 50.00\n", 4);
        assert_eq!((other.vendor, other.to_string().as_str()), (None, "4 cores (unknown)"));
    }
}
