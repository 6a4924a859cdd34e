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
/** A mistake. Its place grows from the inside: a value without a mistake costs no text. */
const must = (what, value) => ({ at: "", text: \`must be \${what}, is \${shown(value)}\` });
const within = (segment, found) => {
  if (found !== undefined) found.at = found.at === "" || found.at[0] === "[" ? segment + found.at : \`\${segment}.\${found.at}\`;
  return found;
};
const sentence = (found, at) => {
  const { at: place, text } = at === "" ? found : within(at, found);
  return \`\${place}: \${text}\`;
};
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Promise);
const oneOf = (names) => {
  const what = "one of " + names.map((each) => JSON.stringify(each)).join(", ");
  return (value) => (names.includes(value) ? undefined : must(what, value));
};

const checks = {};
/** The check of a type: it answers the first mistake of a value, or undefined. The build makes the checks, and the calls only run them. */
const checkOf = (type) => {
  if (typeof type === "string") return primitive(type);
  if (type.ref !== undefined) return (checks[type.ref] ??= named(types[type.ref]));
  if (type.option !== undefined) {
    const check = checkOf(type.option);
    return (value) => (value === undefined || value === null ? undefined : check(value));
  }
  if (type.list !== undefined) {
    const check = checkOf(type.list);
    return (value) => {
      if (!Array.isArray(value) && !ArrayBuffer.isView(value)) return must("a list", value);
      for (let n = 0; n < value.length; n++) {
        const found = check(value[n]);
        if (found !== undefined) return within(\`[\${n}]\`, found);
      }
      return undefined;
    };
  }
  if (type.tuple !== undefined) {
    const each = type.tuple.map(checkOf);
    return (value) => {
      if (!Array.isArray(value) || value.length !== each.length) return must(\`a list of \${each.length}\`, value);
      for (let n = 0; n < each.length; n++) {
        const found = each[n](value[n]);
        if (found !== undefined) return within(\`[\${n}]\`, found);
      }
      return undefined;
    };
  }
  return () => undefined;
};
const primitive = (type) => {
  if (type === "string" || type === "char") return (value) => (typeof value === "string" ? undefined : must("a string", value));
  if (type === "bool") return (value) => (typeof value === "boolean" ? undefined : must("true or false", value));
  if (type === "u64" || type === "s64") return (value) => (typeof value === "bigint" ? undefined : must("a bigint", value));
  if (type === "f32" || type === "f64") return (value) => (typeof value === "number" ? undefined : must("a number", value));
  const [least, greatest] = ranges[type];
  return (value) =>
    Number.isInteger(value) && value >= least && value <= greatest ? undefined : must(\`a whole number from \${least} to \${greatest}\`, value);
};
const named = (def) => {
  if (def.alias !== undefined) return checkOf(def.alias);
  if (def.enum !== undefined) return oneOf(def.enum);
  if (def.record !== undefined) {
    const members = def.record.map(([name, type]) => [name, checkOf(type)]);
    return (value) => {
      if (!isObject(value)) return must("an object", value);
      for (let n = 0; n < members.length; n++) {
        const found = members[n][1](value[members[n][0]]);
        if (found !== undefined) return within(members[n][0], found);
      }
      return undefined;
    };
  }
  if (def.flags !== undefined) return (value) => (isObject(value) ? undefined : must("an object", value));
  const tag = oneOf(def.variant.map(([name]) => name));
  const payloads = Object.fromEntries(def.variant.map(([name, type]) => [name, type === null ? undefined : checkOf(type)]));
  return (value) => {
    if (!isObject(value)) return must("an object", value);
    return within("tag", tag(value.tag)) ?? (payloads[value.tag] === undefined ? undefined : within("val", payloads[value.tag](value.val)));
  };
};

/** A value that the contract does not allow. The call ends with an error that says so, because a trap would hide the message in a panic. */
class ContractError extends TypeError {}
const defect = ({ message, stack = "" }) => ({
  code: 999,
  msg: \`a defect of the delegate: \${message}\`,
  details: stack.split("\\n").filter((line) => !/plexus-(?:checked|entry)/.test(line)).join("\\n").trim() || null,
});

/** The function with a check of its arguments. */
export const checked = (name, params, call) => {
  const each = params.map(([, type]) => checkOf(type));
  return (...values) => {
    for (let n = 0; n < each.length; n++) {
      const found = each[n](values[n]);
      if (found !== undefined) throw new ContractError(\`\${name}: \${sentence(found, params[n][0])}; \${remedy}\`);
    }
    return call(...values);
  };
};

/** The verb with checks of its answer and of its fault. */
export const checkedVerb = (verb, call, answer) => {
  const check = answer === undefined ? undefined : checkOf(answer);
  return (request) => {
    let value;
    try {
      value = call(request);
    } catch (thrown) {
      throw faultOf(verb, thrown);
    }
    if (value instanceof Promise) throw defect({ message: \`\${verb} answered a Promise: the functions of a delegate are synchronous, so remove async\` });
    if (check === undefined) return undefined;
    const found = check(value);
    if (found !== undefined) throw defect({ message: \`\${verb} answered\${found.at === "" ? "" : " "}\${sentence(found, "")}; \${remedy}\` });
    return value;
  };
};

/** The fault of what a verb threw: a fault, the fault of a capability, or a mistake. Any other exception stays. */
const faultOf = (verb, thrown) => {
  if (thrown instanceof ContractError) return defect(thrown);
  if (thrown instanceof Error || (isObject(thrown) && "payload" in thrown)) return thrown;
  if (!isObject(thrown)) return defect({ message: \`\${verb} threw \${shown(thrown)}: throw an Error; \${faultForm}\` });
  const found = faultCheck(thrown);
  return found === undefined ? thrown : defect({ message: \`\${verb} threw \${sentence(found, "")}; \${faultForm}\` });
};
const faultCheck = checkOf({ ref: "types.fault" });
`;
}
