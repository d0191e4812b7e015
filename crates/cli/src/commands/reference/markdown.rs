//! The reference of all commands as one page of Markdown, from what clap knows of them.

use clap::{Arg, Command};
use std::fmt::Write as _;

/// A command and those below it, by path (`foxhunt runs list`), in the order of the help; `help` itself is left out.
pub(super) fn all(root: &Command) -> Vec<(String, &Command)> {
    fn walk<'a>(path: String, command: &'a Command, found: &mut Vec<(String, &'a Command)>) {
        found.push((path.clone(), command));
        for sub in command.get_subcommands().filter(|c| c.get_name() != "help" && !c.is_hide_set()) {
            walk(format!("{path} {}", sub.get_name()), sub, found);
        }
    }
    let mut found = Vec::new();
    walk(root.get_name().to_owned(), root, &mut found);
    found
}

/// The page.
pub(super) fn page(root: &Command) -> String {
    let commands = all(root);
    let mut out = String::from(
        "# Commands\n\nMade from the program itself by `cargo xtask reference`; `foxhunt COMMAND --help` says the same.\n\n",
    );
    for (path, command) in &commands {
        let anchor = path.replace(' ', "-");
        line(&mut out, &format!("- [`{path}`](#{anchor}) — {}", first_line(command)));
    }
    for (path, command) in &commands {
        section(&mut out, path, command);
    }
    out
}

// A `String` takes all that is written to it.
fn line(out: &mut String, text: &str) {
    let _ = writeln!(out, "{text}");
}

fn first_line(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn section(out: &mut String, path: &str, command: &Command) {
    line(out, &format!("\n## `{path}`\n"));
    let about = command.get_long_about().or(command.get_about());
    line(out, &text(&about.map(ToString::to_string).unwrap_or_default()));
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    line(out, &format!("\n```text\n{usage}\n```"));
    let mut group = None;
    for arg in command
        .get_arguments()
        .filter(|a| !a.is_hide_set() && a.get_id() != "help" && a.get_id() != "version")
    {
        let heading =
            if arg.is_positional() { "Arguments" } else { arg.get_help_heading().unwrap_or("Options") };
        if group != Some(heading) {
            line(out, &format!("\n{heading}:\n"));
            group = Some(heading);
        }
        line(out, &option(arg));
    }
    if let Some(more) = command.get_after_long_help().or(command.get_after_help()) {
        line(out, &format!("\n```text\n{}\n```", more.to_string().trim()));
    }
}

/// An option on one line: how it is written, what it does, its default, its values.
fn option(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut out = format!("- `{arg}` — {}", text(&help));
    let takes = arg.get_action().takes_values();
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|v| format!("`{}`", v.to_string_lossy())).collect();
    if takes && !defaults.is_empty() {
        let _ = write!(out, ". Default: {}", defaults.join(", "));
    }
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        // Its help says what may be written, where that is more than shells offer.
        .filter(|v| takes && !arg.is_hide_possible_values_set() && !v.is_hide_set())
        .map(|v| format!("`{}`", v.get_name()))
        .collect();
    if !values.is_empty() {
        let _ = write!(out, ". One of {}", values.join(", "));
    }
    out
}

/// Help as Markdown's text: `<` and `|` have meanings there.
fn text(help: &str) -> String {
    help.replace('<', "\\<").replace('*', "\\*").trim().to_owned()
}
