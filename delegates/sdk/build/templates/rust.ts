// The template of a delegate in Rust, with the bindings of wit-bindgen.

import { type Template, type TemplateInit } from "./template.ts";

const source = ({ abi }: TemplateInit): string => `// Describe the delegate in one or two sentences.

wit_bindgen::generate!({
    path: "node_modules/@plexus-cni/sdk/wit/${abi}",
    world: "delegate",
    generate_all,
});

use cni::delegate::log;
use cni::delegate::types::Network;
use exports::cni::delegate::plugin::{AttachmentRequest, Fault, GcRequest, Guest, StatusRequest, Success};
use serde_json::Value;

struct Delegate;

impl Guest for Delegate {
    fn add(request: AttachmentRequest) -> Result<Success, Fault> {
        log_panics();
        let greeting = greeting_in(&request.network)?;
        let result = request
            .prev_result
            .ok_or_else(|| invalid_config("prevResult", "is missing: put this plugin after others"))?;
        log::write(log::Level::Info, &format!("{greeting}, {}", request.attachment.container_id));
        Ok(result)
    }

    /// Must succeed if there is nothing to undo, and when it is repeated.
    fn del(_request: AttachmentRequest) -> Result<(), Fault> {
        log_panics();
        Ok(())
    }

    fn check(request: AttachmentRequest) -> Result<(), Fault> {
        log_panics();
        greeting_in(&request.network)?;
        Ok(())
    }

    fn gc(_request: GcRequest) -> Result<(), Fault> {
        log_panics();
        Ok(())
    }

    fn status(request: StatusRequest) -> Result<(), Fault> {
        log_panics();
        greeting_in(&request.network)?;
        Ok(())
    }
}

export!(Delegate);

fn greeting_in(network: &Network) -> Result<String, Fault> {
    let config: Value = serde_json::from_str(&network.config).map_err(|error| invalid_config("(top)", &error.to_string()))?;
    match config.get("greeting") {
        None => Ok("hello".to_string()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(invalid_config("greeting", &format!("must be a string, is a {}", kind_of(other)))),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

fn invalid_config(field: &str, why: &str) -> Fault {
    Fault { code: 7, msg: format!("{field}: {why}"), details: None }
}

/// Writes a panic with its file and line to the log: a component has no stderr.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| log::write(log::Level::Error, &panic.to_string())));
}
`;

/** A crate's name has no leading digit. */
const manifest = (name: string): string => `[package]
name = "${/^[0-9]/.test(name) ? `delegate-${name}` : name}"
version = "0.1.0"
edition = "2021"
publish = false

[lib]
crate-type = ["cdylib"]

[dependencies]
serde_json = "1"
wit-bindgen = { version = "=0.41.0", default-features = false, features = ["macros", "realloc"] }

[profile.release]
opt-level = "s"
lto = true
panic = "abort"
strip = "debuginfo"

[workspace]
`;

/** `Cargo.toml` and `src/lib.rs`. */
export const rust: Template = {
  files: (init) => [
    ["Cargo.toml", manifest(init.name)],
    ["src/lib.rs", source(init)],
  ],
  manifest: { scripts: { test: "plexus-delegate test" }, devDependencies: {} },
  ignored: ["target/"],
};
