// Configurations of definitions whose check costs most for their length: each filled up to a number of characters.

/** A configuration that is about so many characters long. */
export type Shape = (length: number) => string;

/** Repeats parts up to the length. */
function filled(length: number, head: string, part: (index: number) => string, tail: string): string {
  let text = head;
  for (let index = 0; text.length + tail.length < length; index++) text += (index === 0 ? "" : ",") + part(index);
  return text + tail;
}

const list = (name = "n"): string => `{"cniVersion":"1.0.0","name":"${name}","plugins":[`;
const ipam = (head: string): string => `${list()}${head}"ipam":{"type":"host-local","ranges":[[`;
const subnet = (index: number): string => `10.${(index >> 6) & 255}.${(index & 63) * 4}.0/30`;

/** The shapes by name. */
export const worstShapes: Readonly<Record<string, Shape>> = {
  "ranges of one subnet": (length) => filled(length, ipam('{"type":"macvlan",'), () => '{"subnet":"10.0.0.0/8"}', "]]}}]}"),
  "ranges that are disjoint": (length) =>
    filled(length, ipam('{"type":"macvlan",'), (index) => `{"subnet":"${subnet(index)}"}`, "]]}}]}"),
  "ranges with a mistake": (length) => filled(length, ipam('{"type":"macvlan",'), () => '{"subnet":"x"}', "]]}}]}"),
  "ranges with a mistake, each on a line": (length) =>
    filled(length, ipam('{"type":"macvlan",'), () => '\n{"subnet":"x"}', "]]}}]}"),
  "gateways of many subnets": (length) =>
    filled(length, ipam('{"type":"bridge","isGateway":true,'), (index) => `{"subnet":"${subnet(index)}"}`, "]]}}]}"),
  "equal plugins": (length) => filled(length, list(), () => '{"type":"a"}', "]}"),
  "different plugins": (length) => filled(length, list(), (index) => `{"type":"a${index}"}`, "]}"),
  "plugins without a type": (length) => filled(length, list(), () => "{}", "]}"),
  "plugins of a wrong kind": (length) => filled(length, list(), () => "1", "]}"),
  "lists in lists": (length) => filled(length, '{"type":"a","x":[', () => '[[{"plugins":[]}]]', "]}"),
  keys: (length) => filled(length, '{"type":"a","x":{', (index) => `"k${index}":1`, "}}"),
  "a repeated key at the end": (length) => filled(length, '{"type":"a","x":{', (index) => `"k${index}":1`, ',"k0":2}}'),
  "no JSON": (length) => filled(length, "[", () => "[", ""),
  "a long name": (length) => `{"cniVersion":"1.0.0","name":"${"n".repeat(length)}","type":"a"}`,
  "long words": (length) => `{"cniVersion":"${"a.".repeat(length / 2)}","name":"n","type":"a"}`,
  "a word with many parts": (length) =>
    `{"cniVersion":"1.0.0","name":"n","type":"a","ipam":{"type":"${"a: ".repeat(length / 3)}"}}`,
};
