// A veth between the pod and the node, with routes on both sides, like the reference plugin ptp. README.md has its configuration.

export { add } from "./add";
export { check } from "./check";
export { del } from "./del";
export { gc, status } from "./network";
