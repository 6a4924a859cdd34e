// Fuzzes the shim's reader of the node's policy, and the policy's check of netlink messages.

import { describeFuzzing } from "./fuzz-target.ts";

/** A netlink message: struct nlmsghdr, then `content`. */
function message(type: number, content: Uint8Array): Buffer {
  const bytes = Buffer.alloc(16 + Math.ceil(content.length / 4) * 4);
  bytes.writeUInt32LE(16 + content.length, 0);
  bytes.writeUInt16LE(type, 4);
  bytes.writeUInt16LE(5, 6);
  bytes.set(content, 16);
  return bytes;
}

/** An attribute: struct nlattr, then `value`. */
function attribute(type: number, value: Uint8Array): Buffer {
  const bytes = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4);
  bytes.writeUInt16LE(4 + value.length, 0);
  bytes.writeUInt16LE(type, 2);
  bytes.set(value, 4);
  return bytes;
}

/** struct ifinfomsg, then attributes. */
const link = (...attributes: readonly Uint8Array[]): Buffer => Buffer.concat([Buffer.alloc(16), ...attributes]);
const descriptor = (number: number): Buffer => attribute(28, Buffer.from([number & 255, number >> 8, 0, 0]));
const veth = (peer: Uint8Array): Buffer =>
  attribute(18, Buffer.concat([attribute(1, Buffer.from("veth")), attribute(2, attribute(1, peer))]));

const policies = [
  "{}",
  '{"plugins":["bridge","host-*"],"directories":["/opt/cni/bin"]}',
  '{\n "nodeNetlink": ["route/newlink", "route/get*", "netfilter/nftables/*", "netfilter/0/*"],\n "nodeSysctls": ["net/ipv4/conf/*/rp_filter"],\n "podSysctls": [],\n "taps": ["*"]\n}\n',
  '{"nodeNetlink":[]}',
  '{"devices":["eth*"]}',
  '{"plugins":["a*b*c**","*"],"plugins":[]}',
  '{"plugins":["\\u0041"]}',
  '{"taps":["t"',
  "[]",
];

/** Makes the length in the header that of the bytes. */
function withLength(bytes: Buffer): Buffer {
  bytes.writeUInt32LE(bytes.length, 0);
  return bytes;
}

/** Messages that end too early, in each of the places where a length stands. */
const cutMessages = [
  message(16, Buffer.alloc(8)),
  withLength(message(16, link(Buffer.from([4, 0]))).subarray(0, 34)),
  message(16, link(Buffer.from([200, 0, 3, 0]))),
  message(16, link()).fill(200, 0, 1),
  message(22, Buffer.alloc(4)),
];

/** Each policy with messages of links, addresses and rules, and policies of netlink and of devices with each message that is cut. */
function seeds(): Map<string, Uint8Array> {
  const messages = Buffer.concat([
    message(16, link(attribute(3, Buffer.from("eth0\0")), descriptor(960))),
    message(16, link(veth(link(descriptor(960), attribute(19, Buffer.from([1, 0, 0, 0])))))),
    message(18, link()),
    message(19, link(attribute(3, Buffer.from("eth0")), attribute(3, Buffer.from("e")), descriptor(960))),
    message(20, Buffer.alloc(8)),
    message(22, Buffer.concat([Buffer.alloc(8), attribute(10, Buffer.alloc(4))])),
    message(0x0a06, Buffer.alloc(4)),
    message(16, link(attribute(46, Buffer.alloc(4)))),
  ]);
  const found = new Map<string, Uint8Array>();
  for (const [index, text] of policies.entries()) {
    found.set(`policy-${index}`, Buffer.concat([Buffer.from(`${text}\0`), messages]));
    found.set(`policy-${index}-alone`, Buffer.from(`${text}\0`));
  }
  for (const [index, bytes] of cutMessages.entries())
    for (const text of ['{"nodeNetlink":["route/newlink"]}', '{"devices":["eth*"]}'])
      found.set(`cut-${index}-${text.length}`, Buffer.concat([Buffer.from(`${text}\0`), bytes]));
  return found;
}

describeFuzzing({
  title: "the reader of the node's policy",
  target: "policy-fuzz.c",
  sources: ["policy.c", "netlink-policy.c", "buffer.c", "frame.c"],
  seeds,
  checks: {
    source: "netlink-policy.c",
    without: {
      " || header.nla_len > rest->size": "",
      "rest->size < sizeof header": "false",
      " || header->nlmsg_len > rest->size": "",
      "link.size < sizeof(struct ifinfomsg) || ": "",
      " || link.size < sizeof(struct ifinfomsg)": "",
      " || content.size < sizeof(struct ifaddrmsg)": "",
    },
  },
});
