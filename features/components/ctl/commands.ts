// Commands about components as OCI artifacts.

import type { CommandSpec, OptionSpec } from "../../../src/command-line/command-spec.ts";
import type { Command } from "../../../host/node/command-line/command.ts";
import { cniPathOption, configOption } from "../../../host/node/command-line/common-options.ts";

const reference = "REF is HOST/REPOSITORY[:TAG][@sha256:DIGEST], or oci-layout:DIRECTORY[:TAG][@sha256:DIGEST].";

const storeOptions: readonly OptionSpec[] = [
  {
    name: "credentials",
    value: "FILE",
    about: "credentials of registries in the form of Docker's config.json",
    usual: "$REGISTRY_AUTH_FILE, containers' auth.json, $DOCKER_CONFIG/config.json, ~/.docker/config.json",
    completes: "file",
  },
  { name: "ca", value: "FILE", about: "certificates to trust besides Node's own", completes: "file" },
  { name: "plain-http", value: "HOST[:PORT]", about: "a registry without TLS", repeats: true },
];
const keyOption: OptionSpec = {
  name: "key",
  value: "[NAME=]FILE",
  about: "a public key of cosign",
  repeats: true,
  completes: "file",
};
const lockOption: OptionSpec = {
  name: "lock",
  value: "FILE",
  about: "what is installed",
  usual: "/etc/plexus/components.lock.json",
  completes: "file",
};
const refused = "refused or failed; nothing was installed";
const forms = ["table", "wide", "json", "yaml", "name"] as const;

const specs: readonly CommandSpec[] = [
  {
    name: "component push",
    summary: "pushes a component to a registry or a layout, and prints its digest",
    synopsis: "FILE REF",
    count: [2, 2],
    completes: "file",
    details: reference,
    options: storeOptions,
    forms,
    names: "the pinned reference",
    attention: refused,
  },
  {
    name: "component pull",
    summary: "installs a component, or the components of a list, on this node",
    synopsis: "[REF]",
    count: [0, 1],
    details: `${reference} With --list, the command removes components that it installed earlier and that are no longer listed.`,
    options: [
      { name: "list", value: "FILE", about: "a list of components, in place of REF", completes: "file" },
      { name: "type", value: "TYPE", about: "the plugin type", usual: "the last part of the repository's name" },
      { ...keyOption, about: "the public key of cosign by which the component must be signed" },
      { name: "to", value: "DIRECTORY", about: "the plugin directory", usual: "/opt/cni/bin", completes: "directory" },
      lockOption,
      { name: "force", about: "replaces a component that the command did not install" },
      ...storeOptions,
    ],
    forms,
    names: "each installed file",
    attention: refused,
  },
  {
    name: "component verify",
    summary: "verifies digests and signature of a component in a registry or a layout",
    synopsis: "REF",
    count: [1, 1],
    details: reference,
    options: [keyOption, ...storeOptions],
    forms,
    names: "the pinned reference",
    attention: "no key has signed the component, or it could not be read",
  },
  {
    name: "component save",
    summary: "writes a component with its signatures into an OCI image layout",
    synopsis: "REF DIRECTORY",
    count: [2, 2],
    completes: "directory",
    details: reference,
    options: storeOptions,
    forms,
    names: "the pinned reference",
    attention: refused,
  },
  {
    name: "component load",
    summary: "pushes the component of this tag or digest from a layout, with its signatures",
    synopsis: "DIRECTORY REF",
    count: [2, 2],
    completes: "directory",
    details: reference,
    options: storeOptions,
    forms,
    names: "the pinned reference",
    attention: refused,
  },
  {
    name: "component ls",
    summary: "lists the components of this node: digest, signer, grants",
    options: [configOption, cniPathOption, lockOption],
    forms,
    names: "each plugin type",
    attention: "a component that no call would run",
  },
];

/** The commands. */
export const componentCommands: readonly Command[] = specs.map((spec) => ({
  ...spec,
  run: async (line) => (await import("./run-component.ts")).runComponent(spec.name.split(" ")[1] ?? "", line),
}));
