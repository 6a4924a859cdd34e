// The provider `neutron`: ports of OpenStack's network service. A port is found again by its name and tag, never by `device_id`, which a subport of a
// trunk cannot have.

import { isJsonObject } from "../../../../src/json/document.ts";
import { quote } from "../../../../src/json/quote.ts";
import { type ProvidedPort, readProvidedPort } from "../../rules/provided-port.ts";
import { PortTurns } from "../port-turns.ts";
import { failure, type OwnedPort, type PortProvider, type PortRequest, type ProviderResult } from "../provider.ts";
import { type Body, NeutronClient, type NeutronFailure, objectsOf, portsOf } from "./client.ts";
import { KeptObjects } from "./kept-objects.ts";
import { addressOf, isPortOf, podValues, portBody, type PortSettings, portValues, type SubnetValues } from "./port-values.ts";
import { NeutronPortsAhead } from "./ports-ahead.ts";
import type { NeutronDriver, NeutronSettings } from "./settings.ts";
import { Trunks } from "./trunks.ts";

/** `device_owner` of Plexus' ports. The prefix `compute:` makes Neutron treat them as ports of machines. */
const deviceOwner = "compute:plexus";
const drivers: readonly string[] = ["neutron-vif", "nested-vlan", "nested-macvlan"];

/** Makes the provider. `owner`: this cluster's name at Neutron. */
export function neutronProvider(settings: NeutronSettings, owner: string): PortProvider {
  return new NeutronProvider(settings, owner);
}

class NeutronProvider implements PortProvider {
  readonly ahead: NeutronPortsAhead;
  readonly #settings: NeutronSettings;
  readonly #client: NeutronClient;
  readonly #subnets: KeptObjects;
  readonly #networks: KeptObjects;
  readonly #trunks: Trunks;
  readonly #turns = new PortTurns();
  readonly #ownerTag: string;
  /** The beginning of the names of all of this cluster's ports. */
  readonly #namePrefix: string;

  constructor(settings: NeutronSettings, owner: string) {
    const client = new NeutronClient(settings);
    this.#settings = settings;
    this.#client = client;
    this.#subnets = new KeptObjects(client, "subnet");
    this.#networks = new KeptObjects(client, "network");
    this.#trunks = new Trunks(client, settings.vlans);
    this.#ownerTag = `plexus-owner:${owner}`;
    this.#namePrefix = `plexus:${owner}:`;
    this.ahead = new NeutronPortsAhead({
      client,
      settings,
      freeName: this.#nameOf("free"),
      ownerTag: this.#ownerTag,
      subnet: (id) => this.#subnet(id),
      tag: (port) => this.#tag(port),
    });
  }

  ensure(request: PortRequest): Promise<ProviderResult<ProvidedPort>> {
    return this.#turns.take(request.key, () => this.#ensure(request));
  }

  release(port: OwnedPort): Promise<ProviderResult<void>> {
    return this.#turns.take(port.key, () => this.#release(port));
  }

  async list(): Promise<ProviderResult<readonly OwnedPort[]>> {
    const ports = await this.#client.list("ports", [
      ["tags", this.#ownerTag],
      ["fields", "id"],
      ["fields", "name"],
    ]);
    if (!ports.ok) return ports;
    const owned = ports.value.flatMap(({ id, name }): readonly OwnedPort[] => {
      const key = this.#keyOf(name);
      // The name of a free port has no pod's key.
      return key?.includes("/") !== true || typeof id !== "string" ? [] : [{ key, providerId: id }];
    });
    return { ok: true, value: owned };
  }

  async active({ providerId }: OwnedPort): Promise<ProviderResult<boolean>> {
    const port = await this.#client.send("GET", `/ports/${encodeURIComponent(providerId)}?fields=status`);
    if (!port.ok) return port;
    return { ok: true, value: isJsonObject(port.value["port"]) && port.value["port"]["status"] === "ACTIVE" };
  }

  async #ensure(request: PortRequest): Promise<ProviderResult<ProvidedPort>> {
    const choice = choose(this.#settings, request.parameters);
    if (typeof choice === "string") return failure("invalid", choice);
    const subnet = await this.#subnet(choice.subnet);
    if (!subnet.ok) return subnet;
    const found = await this.#find(request.key);
    if (!found.ok) return found;
    // A port of the name may come from an earlier try, with a subnet or requested values that the settings have changed since: it is an orphan.
    const fits = (port: Body): boolean => isPortOf(port, subnet.value, request.requested);
    // The same of two ports is taken each time; the other is an orphan.
    const fitting = found.value.filter(fits).toSorted((a, b) => (String(a["id"]) < String(b["id"]) ? -1 : 1));
    const [existing] = fitting;
    const others = found.value.filter((each) => each !== existing);
    const port =
      existing === undefined ? await this.#obtain(request, subnet.value, choice.driver) : { ok: true as const, value: existing };
    if (!port.ok) return port;
    for (const each of [port.value, ...others]) {
      const tagged = await this.#tag(each);
      if (!tagged.ok) return tagged;
    }
    return this.#complete(port.value, request, subnet.value, choice.driver);
  }

  async #release({ key, providerId }: OwnedPort): Promise<ProviderResult<void>> {
    const found = await this.#find(key);
    if (!found.ok) return found;
    for (const port of found.value) {
      const id = String(port["id"]);
      // Neutron may end a creation after its request was given up. The tag lets the look for orphans judge that port.
      const done = providerId === "" || id === providerId ? await remove(this.#client, this.#trunks, id) : await this.#tag(port);
      if (!done.ok) return done;
    }
    return { ok: true, value: undefined };
  }

  /** A free port if there is one and the pod asks for no address of its own, else a new one. */
  async #obtain(request: PortRequest, subnet: SubnetValues, driver: NeutronDriver): Promise<ProviderResult<Body>> {
    const { mac, ips = [] } = request.requested;
    const values = this.#settingsOf(request, driver);
    if (mac === undefined && ips.length === 0) {
      const taken = await this.ahead.take(subnet.id, podValues(request, values));
      if (!taken.ok) return taken;
      if (taken.value !== undefined) return { ok: true, value: taken.value };
    }
    const body = portBody(request, subnet, values);
    const made = await this.#create(body);
    if (made.ok || !(await this.ahead.giveWay(subnet.id, ips.map(addressOf), made))) return made;
    return this.#create(body);
  }

  /** The port as plugins of this driver need it. */
  async #complete(
    port: Body,
    request: PortRequest,
    subnet: SubnetValues,
    driver: NeutronDriver,
  ): Promise<ProviderResult<ProvidedPort>> {
    const network = await this.#networks.get(subnet.networkId);
    if (!network.ok) return network;
    const id = String(port["id"]);
    if (port["binding:vif_type"] === "binding_failed") {
      // Neutron does not bind this port again when the host's agent comes back, so the next try makes a new one.
      const removed = await remove(this.#client, this.#trunks, id);
      if (!removed.ok) return removed;
      return failure(
        "unavailable",
        `Neutron cannot bind port ${id} to host ${request.nodeName}: no agent of this host, or not for this network`,
      );
    }
    let binding: ProvidedPort["binding"] = driver === "neutron-vif" ? { type: "ovs", interfaceId: id } : { type: "address-only" };
    if (driver === "nested-vlan") {
      const vlan = await this.#trunks.add(request.nodeName, id);
      if (!vlan.ok) return vlan;
      binding = { type: "vlan", vlan: vlan.value };
    }
    const read = readProvidedPort({ ...portValues(port, subnet, network.value), binding });
    return read.ok ? { ok: true, value: read.value } : failure("refused", `port ${id} of Neutron: ${read.problem}`);
  }

  /** The ports of a pod's attachment. Several exist if an answer of Neutron was lost. */
  async #find(key: string): Promise<ProviderResult<readonly Body[]>> {
    const listed = await this.#client.list("ports", [["name", this.#nameOf(key)]]);
    return listed.ok ? { ok: true, value: portsOf(listed.value) } : listed;
  }

  async #create(body: Body): Promise<{ readonly ok: true; readonly value: Body } | NeutronFailure> {
    const made = await this.#client.send("POST", "/ports", { ports: [body] });
    if (!made.ok) return made;
    const [port] = portsOf(made.value["ports"]);
    return port === undefined
      ? failure("unavailable", "Neutron made a port, but its answer has none")
      : { ok: true, value: port };
  }

  async #subnet(id: string): Promise<ProviderResult<SubnetValues>> {
    const subnet = await this.#subnets.get(id);
    if (!subnet.ok) return subnet;
    const values = subnetValues(subnet.value);
    return values === undefined
      ? failure("refused", `subnet ${id} of Neutron has no network or no address range`)
      : { ok: true, value: values };
  }

  /** Tags a port, also one whose creation was not answered: the look for orphans finds ports by the tag. */
  async #tag(port: Body): Promise<ProviderResult<Body>> {
    if (Array.isArray(port["tags"]) && port["tags"].includes(this.#ownerTag)) return { ok: true, value: port };
    const tagged = await this.#client.send("PUT", `/ports/${String(port["id"])}/tags/${encodeURIComponent(this.#ownerTag)}`);
    return tagged.ok ? { ok: true, value: port } : tagged;
  }

  #settingsOf(request: PortRequest, driver: NeutronDriver): PortSettings {
    const { bindHost, portSecurity, securityGroups } = this.#settings;
    return {
      name: this.#nameOf(request.key),
      deviceOwner: driver === "nested-vlan" ? undefined : deviceOwner,
      hostId: bindHost && driver === "neutron-vif" ? request.nodeName : undefined,
      portSecurity,
      securityGroups,
    };
  }

  #nameOf(key: string): string {
    return `${this.#namePrefix}${key}`;
  }

  /** The key of a port with this name; undefined for a port of another owner. */
  #keyOf(name: unknown): string | undefined {
    const prefix = this.#namePrefix;
    return typeof name === "string" && name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
  }
}

async function remove(client: NeutronClient, trunks: Trunks, id: string): Promise<ProviderResult<void>> {
  for (let attempt = 0; ; attempt++) {
    const removed = await client.send("DELETE", `/ports/${encodeURIComponent(id)}`);
    if (removed.ok || removed.status === 404) return { ok: true, value: undefined };
    // A subport cannot be deleted before it left its trunk (PortInUseAsSubPort).
    if (removed.status !== 409 || attempt > 0) return removed;
    const left = await trunks.remove(id);
    if (!left.ok) return left;
  }
}

/** Subnet and driver of a definition's parameters (KU-07 to KU-09), or the problem. */
function choose(
  settings: NeutronSettings,
  parameters: PortRequest["parameters"],
): { readonly subnet: string; readonly driver: NeutronDriver } | string {
  for (const key of Object.keys(parameters)) {
    if (key !== "subnetId" && key !== "driverType")
      return `unknown parameter ${quote(key, 60)}; known are subnetId and driverType`;
  }
  const { subnetId, driverType } = parameters;
  if (subnetId !== undefined && (typeof subnetId !== "string" || !/^[0-9a-fA-F-]{1,64}$/.test(subnetId))) {
    return "subnetId must be the ID of a subnet of Neutron";
  }
  if (driverType !== undefined && typeof driverType !== "string") return "driverType must be a text";
  const named = driverType === undefined ? settings.driver : (ownValue(settings.driverAliases, driverType) ?? driverType);
  if (!drivers.includes(named))
    return `driverType ${quote(named, 60)} is none of ${drivers.join(", ")}, and no alias in driverAliases`;
  const mapped = driverType === undefined ? undefined : ownValue(settings.subnetMapping, driverType);
  const subnet = subnetId ?? mapped ?? settings.podSubnet;
  if (subnet === undefined) return "no subnet: the definition has no subnetId, and the provider's settings have no podSubnet";
  if (subnetId !== undefined && settings.allowedSubnets?.includes(subnetId) === false) {
    return `subnet ${quote(subnetId, 64)} is not in the provider's allowedSubnets`;
  }
  return { subnet, driver: named as NeutronDriver };
}

/** The value of an object's own key. A definition's author chooses the key, which may be `constructor`. */
function ownValue<T>(values: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

function subnetValues({
  id,
  network_id: networkId,
  cidr,
  gateway_ip: gateway,
  host_routes: routes,
}: Body): SubnetValues | undefined {
  if (typeof id !== "string" || typeof networkId !== "string" || typeof cidr !== "string") return undefined;
  return { id, networkId, cidr, gateway: typeof gateway === "string" ? gateway : undefined, routes: objectsOf(routes) };
}
