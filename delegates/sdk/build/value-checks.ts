// The text of a JavaScript module that compares values with types of the contract. It runs in the component, so its text is short.

/** The module's text. `types`: the named types as JSON, in the form of the model. */
export function valueChecks(types: string, version: string): string {
  return `const types = ${types};
const ranges = { u8: [0, 255], s8: [-128, 127], u16: [0, 65535], s16: [-32768, 32767], u32: [0, 4294967295], s32: [-2147483648, 2147483647] };
const remedy = "the types are in wit/${version}/delegate.d.ts of @plexus-cni/sdk";
export const faultForm = "an error is { code: number, msg: string, details?: string }";

export const shown = (value) => {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  if (typeof value === "object") return value instanceof Promise ? "a Promise" : "an object";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return \`the \${typeof value} \${text.length > 60 ? text.slice(0, 60) + "…" : text}\`;
};
const must = (at, what, value) => \`\${at}: must be \${what}, is \${shown(value)}\`;
const oneOf = (at, names, value) => (names.includes(value) ? undefined : must(at, "one of " + names.map((each) => JSON.stringify(each)).join(", "), value));
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Promise);
const member = (at, name) => (at === "" ? name : \`\${at}.\${name}\`);

/** The first difference between a value and its type; undefined: there is none. */
export const mistake = (type, value, at) => {
  if (typeof type === "string") return primitive(type, value, at);
  if (type.ref !== undefined) return named(types[type.ref], value, at);
  if (type.option !== undefined) return value === undefined || value === null ? undefined : mistake(type.option, value, at);
  if (type.list !== undefined) {
    if (!Array.isArray(value) && !ArrayBuffer.isView(value)) return must(at, "a list", value);
    for (let n = 0; n < value.length; n++) {
      const found = mistake(type.list, value[n], \`\${at}[\${n}]\`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (type.tuple !== undefined) {
    if (!Array.isArray(value) || value.length !== type.tuple.length) return must(at, \`a list of \${type.tuple.length}\`, value);
    return first(type.tuple.map((each, n) => () => mistake(each, value[n], \`\${at}[\${n}]\`)));
  }
  return undefined;
};
const first = (checks) => {
  for (const check of checks) {
    const found = check();
    if (found !== undefined) return found;
  }
  return undefined;
};
const primitive = (type, value, at) => {
  if (type === "string" || type === "char") return typeof value === "string" ? undefined : must(at, "a string", value);
  if (type === "bool") return typeof value === "boolean" ? undefined : must(at, "true or false", value);
  if (type === "u64" || type === "s64") return typeof value === "bigint" ? undefined : must(at, "a bigint", value);
  if (type === "f32" || type === "f64") return typeof value === "number" ? undefined : must(at, "a number", value);
  const [least, greatest] = ranges[type];
  return Number.isInteger(value) && value >= least && value <= greatest ? undefined : must(at, \`a whole number from \${least} to \${greatest}\`, value);
};
const named = (def, value, at) => {
  if (def.alias !== undefined) return mistake(def.alias, value, at);
  if (def.enum !== undefined) return oneOf(at, def.enum, value);
  if (!isObject(value)) return must(at, "an object", value);
  if (def.record !== undefined) return first(def.record.map(([name, type]) => () => mistake(type, value[name], member(at, name))));
  if (def.flags !== undefined) return undefined;
  const wrong = oneOf(member(at, "tag"), def.variant.map(([name]) => name), value.tag);
  if (wrong !== undefined) return wrong;
  const payload = def.variant.find(([name]) => name === value.tag)[1];
  return payload === null ? undefined : mistake(payload, value.val, member(at, "val"));
};

/** A value that the contract does not allow. The call ends with an error that says so, because a trap would hide the message in a panic. */
class ContractError extends TypeError {}
const defect = ({ message, stack = "" }) => ({
  code: 999,
  msg: \`a defect of the delegate: \${message}\`,
  details: stack.split("\\n").filter((line) => !/plexus-(?:checked|entry)/.test(line)).join("\\n").trim() || null,
});

/** The function with a check of its arguments. */
export const checked = (name, params, call) => (...values) => {
  const found = first(params.map(([param, type], n) => () => mistake(type, values[n], param)));
  if (found !== undefined) throw new ContractError(\`\${name}: \${found}; \${remedy}\`);
  return call(...values);
};

/** The verb with checks of its answer and of its fault. */
export const checkedVerb = (verb, call, answer) => (request) => {
  let value;
  try {
    value = call(request);
  } catch (thrown) {
    throw faultOf(verb, thrown);
  }
  if (value instanceof Promise) throw defect({ message: \`\${verb} answered a Promise: the functions of a delegate are synchronous, so remove async\` });
  if (answer === undefined) return undefined;
  const found = mistake(answer, value, "");
  if (found !== undefined) throw defect({ message: \`\${verb} answered\${found.startsWith(":") ? "" : " "}\${found}; \${remedy}\` });
  return value;
};

/** The fault of what a verb threw: a fault, the fault of a capability, or a mistake. Any other exception stays. */
const faultOf = (verb, thrown) => {
  if (thrown instanceof ContractError) return defect(thrown);
  if (thrown instanceof Error || (isObject(thrown) && "payload" in thrown)) return thrown;
  if (!isObject(thrown)) return defect({ message: \`\${verb} threw \${shown(thrown)}: throw an Error; \${faultForm}\` });
  const found = mistake({ ref: "types.fault" }, thrown, "");
  return found === undefined ? thrown : defect({ message: \`\${verb} threw \${found}; \${faultForm}\` });
};
`;
}
