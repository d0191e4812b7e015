//! Says what data files hold: `cargo run -p foxhunt-data --example inspect -- FILE...` (without one: the sample).

use std::{env, process::ExitCode};

use foxhunt_data::{LoadOptions, inspect, load, sample};

fn main() -> ExitCode {
    let files: Vec<String> = env::args().skip(1).collect();
    if files.is_empty() {
        println!("{}", inspect(&sample()));
    }
    let mut code = ExitCode::SUCCESS;
    for file in files {
        match load(&file, &LoadOptions::default()) {
            Ok(bars) => println!("{}", inspect(&bars)),
            Err(error) => {
                eprintln!("{error}\n");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}
