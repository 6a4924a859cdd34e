// The template of a delegate in Python, with the bindings of componentize-py.

import { type Template, type TemplateInit } from "./template.ts";

const source = ({ capabilities }: TemplateInit): string => `"""Describe the delegate in one or two sentences."""

import json

from componentize_py_types import Err
from wit_world.imports import log, types
${capabilities.map((each) => `# from wit_world.imports import ${each.replaceAll("-", "_")}\n`).join("")}from wit_world.imports.types import AttachmentRequest, GcRequest, Network, StatusRequest, Success


def add(request: AttachmentRequest) -> Success:
    greeting = greeting_in(request.network)
    if request.prev_result is None:
        raise invalid_config("prevResult", "is missing: put this plugin after others")
    log.write(log.Level.INFO, f"{greeting}, {request.attachment.container_id}")
    return request.prev_result


def del_(request: AttachmentRequest) -> None:
    """Must succeed if there is nothing to undo, and when it is repeated."""


def check(request: AttachmentRequest) -> None:
    greeting_in(request.network)


def gc(request: GcRequest) -> None:
    pass


def status(request: StatusRequest) -> None:
    greeting_in(request.network)


def greeting_in(network: Network) -> str:
    greeting = json.loads(network.config).get("greeting", "hello")
    if not isinstance(greeting, str):
        raise invalid_config("greeting", f"must be a string, is a {kind_of(greeting)}")
    return greeting


def kind_of(value: object) -> str:
    """The JSON name of a value's type."""
    names = {bool: "boolean", int: "number", float: "number", list: "list", dict: "object"}
    return names.get(type(value), "null")


def invalid_config(field: str, why: str) -> Err:
    """An Err that is raised is the delegate's error. Any other exception ends the call as a defect."""
    return Err(types.Fault(7, f"{field}: {why}", None))
`;

/** The options for the limits that a component in Python exceeds by default. */
const limits = "--component-mib 20 --core-instances 48";

/** `src/delegate.py`. */
export const python: Template = {
  files: (init) => [["src/delegate.py", source(init)]],
  manifest: {
    scripts: { test: `plexus-delegate test ${limits}`, vectors: `plexus-delegate fmt-vectors ${limits}` },
    devDependencies: {},
  },
  ignored: [".venv/", "__pycache__/"],
};
