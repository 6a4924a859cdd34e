// A bridge on the node, and a veth to it for each attachment, like the reference plugin bridge. README.md has its configuration.

export { add } from "./add";
export { check } from "./check";
export { del } from "./del";
export { gc, status } from "./network";
