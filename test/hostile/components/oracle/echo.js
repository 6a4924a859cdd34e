// A delegate in JavaScript that passes every type of the ABI in both directions: its requests appear in its log, in its calls of the leases
// capability, and in its answers.
import { write } from "cni:delegate/log@1.0.0";
import { count, held, probe, release, reserve, reserveNext, retain } from "cni:delegate/leases@1.0.0";
import { read } from "cni:delegate/resolver@1.0.0";

const levels = ["debug", "info", "warn", "error"];
const say = (value) => write(levels[JSON.stringify(value).length % 4], JSON.stringify(value));

// Passes the error of a capability on as the delegate's error.
function passing(act) {
  try {
    return act();
  } catch (error) {
    throw error.payload ?? error;
  }
}

const poolOf = (attachment) => ({ directory: attachment.netns, set: attachment.args.length });
const ownerOf = ({ containerId, ifname }) => ({ containerId, ifname });
const ranges = (attachment) => attachment.args.map(({ key, value }) => ({ first: key, last: value }));

export const plugin = {
  add(request) {
    say(request);
    const { network, attachment, prevResult } = request;
    const pool = poolOf(attachment);
    const owner = ownerOf(attachment);
    const taken = passing(() => reserve(pool, network.config, owner));
    const next = passing(() => reserveNext(pool, ranges(attachment), [network.name, network.cniVersion], owner));
    say([taken, next ?? null]);
    if (network.name.startsWith("fail")) throw { code: network.config.length, msg: network.config, details: attachment.netns };
    return (
      prevResult ?? {
        interfaces: [],
        ips: [{ address: next?.address ?? "none", gateway: undefined, interface: -1 }],
        routes: [],
        dns: undefined,
      }
    );
  },
  del({ attachment }) {
    say(passing(() => release(poolOf(attachment), ownerOf(attachment))));
  },
  check({ attachment }) {
    const list = passing(() => held(poolOf(attachment), ownerOf(attachment)));
    throw { code: list.length, msg: list.join(), details: undefined };
  },
  gc({ network, valid }) {
    say(network);
    say(passing(() => retain({ directory: undefined, set: 0xffffffff }, valid)));
  },
  status({ network }) {
    passing(() => probe({ directory: network.name, set: 0 }));
    say(passing(() => read(network.config)));
    say(passing(() => count({ directory: undefined, set: 1 }, [], network.config.length)));
  },
};
