// The rules of `plexusctl lint`: docs/reference/lint.md is made of this table. A rule's ID never changes its meaning.

/** The severity of a finding. `error`: pods fail. `warning`: pods may fail, or get an unwanted network. `note`: worth reading. */
export type Severity = "error" | "warning" | "note";

/** A rule. */
export interface LintRule {
  readonly severity: Severity;
  /** A sentence about the mistake that the rule finds. */
  readonly finds: string;
  readonly remedy: string;
}

/** The rules by their IDs. */
export const lintRules = {
  "unreadable-file": {
    severity: "error",
    finds: "A file cannot be read, or has neither a network configuration nor a NetworkAttachmentDefinition.",
    remedy: "Correct the path or the rights of the file.",
  },
  "unreadable-configuration": {
    severity: "error",
    finds: "A configuration is not JSON, has a repeated key, or lacks or mistypes a field that CNI requires.",
    remedy: "Correct the text at the named place.",
  },
  "plexus-configuration": {
    severity: "error",
    finds: "Plexus' own configuration has a mistake: an unknown key, a wrong value, or keys that exclude each other.",
    remedy: "Correct the named key: docs/reference/configuration.md has all keys.",
  },
  "invalid-definition": {
    severity: "error",
    finds: "A NetworkAttachmentDefinition is invalid, or names a configuration file that does not exist.",
    remedy: "Correct the object; the message names the field.",
  },
  "forbidden-by-policy": {
    severity: "error",
    finds: "The rules for definitions do not allow the namespace to use this plugin, key, file or network name.",
    remedy: "Change the definition, or allow it under definitions.rules: docs/how-to/definitions.md.",
  },
  "unknown-plugin": {
    severity: "error",
    finds: "No directory of plugins has a native plugin or a component of this type.",
    remedy: "Correct the type, install the plugin, or name its directory with --cni-path.",
  },
  "unsupported-version": {
    severity: "error",
    finds: "The network's cniVersion is unknown, or a component does not support it.",
    remedy: "Set cniVersion to a version that all steps support.",
  },
  "missing-grant": {
    severity: "error",
    finds: "A component imports a capability that its type is not granted.",
    remedy: "Grant the capability: plexusctl explain prints the configuration that does.",
  },
  "uncovered-value": {
    severity: "warning",
    finds: "The grant of a capability does not cover a value of the step's configuration, such as its bridge.",
    remedy: "Add the value to the grant, or change the configuration.",
  },
  "unused-grant": {
    severity: "note",
    finds: "A type is granted a capability that its component does not declare.",
    remedy: "Remove the grant.",
  },
  "refused-component": {
    severity: "error",
    finds: "A node refuses the component: it is too large, malformed, of another ABI, or not declared.",
    remedy: "Install another component, or raise the limit that the message names.",
  },
  "unmet-demand": {
    severity: "error",
    finds: "The component lacks the digest or the signature that the configuration demands.",
    remedy: "Install the demanded component, or correct the demand.",
  },
  "other-name": {
    severity: "warning",
    finds: "A component's file name differs from the name that the component declares.",
    remedy: "Rename the file if the wrong component was copied; a configuration refers to the file name.",
  },
  "would-not-load": {
    severity: "error",
    finds: "A step would not load for another reason, which the message has.",
    remedy: "Follow the message.",
  },
  "policy-without-effect": {
    severity: "warning",
    finds: "The failure policy of a step does not hold for its place in the list.",
    remedy: "Remove the policy, or move the step.",
  },
  "name-collision": {
    severity: "warning",
    finds: "Two networks with different configurations have one name, so that they share results and addresses.",
    remedy: "Give each network a name of its own.",
  },
  "type-twice": {
    severity: "note",
    finds: "A list has two steps of one type with equal configurations.",
    remedy: "Remove the second step, if it does nothing more.",
  },
  "subnet-overlap": {
    severity: "warning",
    finds: "Address ranges of two networks overlap, so that two pods may get one address.",
    remedy: "Divide the subnet with rangeStart and rangeEnd, or use one network name for a shared pool.",
  },
  "range-overlap": {
    severity: "error",
    finds: "Address ranges of one IPAM configuration overlap.",
    remedy: "Make the ranges disjoint.",
  },
  "invalid-subnet": {
    severity: "error",
    finds: "A subnet or an address of an IPAM configuration is malformed, or a range lies outside of its subnet.",
    remedy: "Correct the address.",
  },
  "partly-examined": {
    severity: "warning",
    finds: "A definition has more address ranges than plexus-controller compares with those of other networks.",
    remedy: "Use fewer ranges, or a larger subnet; plexusctl lint compares all of them.",
  },
  "bridge-addresses": {
    severity: "warning",
    finds: "Two networks give one bridge addresses of different subnets, which the bridge plugin refuses.",
    remedy: "Use one bridge for each subnet, or set forceAddress.",
  },
  "instance-address": {
    severity: "warning",
    finds:
      "A virtual machine uses a network whose AddressPool keeps no address for it: the guest keeps its address in a live migration, and another pod gets it, too.",
    remedy:
      "Set spec.keepInstanceAddresses of the AddressPool, or give each machine an IPAMClaim: docs/how-to/addresses-across-nodes.md.",
  },
} as const satisfies Readonly<Record<string, LintRule>>;

/** A rule's ID. */
export type LintRuleId = keyof typeof lintRules;
