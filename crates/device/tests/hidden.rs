//! With any CUDA library hidden, the program says so in one line and goes on.

use foxhunt_device::{Device, DeviceChoice};
use std::process::Command;

#[test]
fn a_missing_library_is_one_line_and_no_panic() {
    for (hidden, file) in [("cuda", "libcuda.so"), ("nvrtc", "libnvrtc.so"), ("cublaslt", "libcublasLt.so")] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_without_a_library", "--ignored", "--nocapture"])
            .env("FOXHUNT_HIDE_LIBRARY", hidden)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{hidden}: {text}{}", String::from_utf8_lossy(&output.stderr));
        let notes: Vec<&str> = text.lines().filter(|l| l.starts_with("note: ")).collect();
        assert_eq!(notes.len(), 1, "{text}");
        // Without a driver that is what is missing, whatever else is hidden.
        assert!(notes[0].contains(file) || notes[0].contains("libcuda.so"), "{text}");
        let line = format!("library: {file} is hidden by FOXHUNT_HIDE_LIBRARY");
        assert!(text.lines().any(|l| l == line), "{text}");
    }
}

#[test]
#[ignore = "run by a_missing_library_is_one_line_and_no_panic"]
fn child_without_a_library() {
    println!();
    for report in Device::libraries() {
        println!("library: {report}");
    }
    let (device, notes) = Device::choose(DeviceChoice::Auto).unwrap();
    assert!(!device.is_cuda());
    for note in notes {
        println!("note: {note}");
    }
    assert!(Device::cuda(0).is_err());
}
