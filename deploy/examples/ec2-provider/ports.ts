// The four operations. A port is a secondary private address of a node's interface. The address and its key are in a tag of the interface before EC2
// assigns the address, so that a provider that ends in between leaves nothing that nobody knows.

import { createHash } from "node:crypto";
import {
  AssignPrivateIpAddressesCommand,
  CreateTagsCommand,
  DeleteTagsCommand,
  type EC2Client,
  EC2ServiceException,
  UnassignPrivateIpAddressesCommand,
} from "@aws-sdk/client-ec2";
import { chooseAddress, gatewayOf, isAssignable, type Subnet } from "./choose-address.ts";
import type { OwnedPort, Port, PortRequest } from "./messages.ts";
import {
  addressTag,
  interfaceOf,
  interfacesBy,
  interfacesOfNode,
  type NodeInterface,
  ownerTag,
  subnetOf,
} from "./node-interface.ts";
import { Refusal } from "./refusal.ts";
import type { Settings } from "./settings.ts";
import { Turns } from "./turns.ts";

/** Tries with another address, if EC2 has given the chosen one to somebody else. */
const maxTries = 4;

/** The ports of all owners. */
export class Ec2Ports {
  readonly #client: EC2Client;
  readonly #settings: Settings;
  readonly #turns = new Turns();
  /** Addresses that calls of this process are about to assign, with their subnets. */
  readonly #chosen = new Set<string>();

  constructor(client: EC2Client, settings: Settings) {
    this.#client = client;
    this.#settings = settings;
  }

  /** Makes the port of the request's key, or answers the one that exists. */
  async ensure(owner: string, request: PortRequest): Promise<Port> {
    const { id } = await this.#interfaceFor(request);
    return this.#turns.take(id, async () => {
      const before = await this.#known(id);
      if (before.owner !== undefined && before.owner !== owner && before.ports.size > 0)
        throw new Refusal(409, `interface ${id} has ports of owner ${before.owner}`);
      const { mac } = request.requested;
      if (mac !== undefined && mac.toLowerCase() !== before.mac.toLowerCase())
        throw new Refusal(
          422,
          `EC2 gives all addresses of interface ${id} the MAC address ${before.mac}; ${mac} is not possible`,
        );
      const subnet = await subnetOf(this.#client, before.subnetId);
      const address = (await this.#existing(owner, request.key, before)) ?? (await this.#assign(owner, request, before, subnet));
      return {
        providerId: `${id}/${address}`,
        mac: before.mac,
        addresses: [{ address: `${address}/${subnet.prefixLength}`, gateway: gatewayOf(subnet) }],
        binding: { type: "address-only" },
      };
    });
  }

  /** Removes the port; without a providerId each port of the key. */
  async release(owner: string, { key, providerId }: OwnedPort): Promise<void> {
    if (providerId !== "") {
      const named = readProviderId(providerId);
      if (named !== undefined) await this.#release(owner, key, named.id, named.address);
      return;
    }
    for (const { id, ports } of await this.#owned(owner)) {
      for (const [address, portKey] of ports) if (portKey === key) await this.#release(owner, key, id, address);
    }
  }

  /** All ports of the owner. */
  async list(owner: string): Promise<readonly OwnedPort[]> {
    return (await this.#owned(owner)).flatMap(({ id, ports }) =>
      [...ports].map(([address, key]) => ({ key, providerId: `${id}/${address}` })),
    );
  }

  /** Whether EC2 forwards packets to the port's address. */
  async active(owner: string, { key, providerId }: OwnedPort): Promise<boolean> {
    const named = readProviderId(providerId);
    const found = named === undefined ? undefined : await interfaceOf(this.#client, named.id);
    if (named === undefined || found?.owner !== owner || !found.isAttached) return false;
    return found.ports.get(named.address) === key && found.addresses.has(named.address);
  }

  #owned(owner: string): Promise<readonly NodeInterface[]> {
    return interfacesBy(this.#client, [{ Name: `tag:${ownerTag}`, Values: [owner] }]);
  }

  async #known(id: string): Promise<NodeInterface> {
    const found = await interfaceOf(this.#client, id);
    if (found === undefined) throw new Refusal(503, `interface ${id} is gone`);
    return found;
  }

  /** The interface that the definition names, among those that the settings permit. */
  async #interfaceFor({ nodeName, parameters }: PortRequest): Promise<NodeInterface> {
    const { deviceIndexes, subnets, nodeName: attribute } = this.#settings;
    const { subnetId, deviceIndex = subnetId === undefined ? deviceIndexes[0] : undefined } = parameters;
    if (deviceIndex !== undefined && !deviceIndexes.includes(deviceIndex))
      throw new Refusal(403, `deviceIndex ${deviceIndex} is not in the provider's deviceIndexes`);
    if (subnetId !== undefined && subnets?.includes(subnetId) === false)
      throw new Refusal(403, `subnet ${subnetId} is not in the provider's subnets`);
    const found = (await interfacesOfNode(this.#client, attribute, nodeName)).find(
      (each) =>
        each.deviceIndex !== undefined &&
        deviceIndexes.includes(each.deviceIndex) &&
        (deviceIndex === undefined || each.deviceIndex === deviceIndex) &&
        (subnetId === undefined || each.subnetId === subnetId) &&
        subnets?.includes(each.subnetId) !== false,
    );
    if (found !== undefined) return found;
    const wanted = [
      deviceIndex === undefined ? "" : ` with device index ${deviceIndex}`,
      subnetId === undefined ? "" : ` in ${subnetId}`,
    ];
    throw new Refusal(404, `node ${nodeName} has no permitted interface${wanted.join("")}`);
  }

  /** The address of the key's port. The port of a provider that ended before EC2 assigned the address is completed. */
  async #existing(owner: string, key: string, { id, ports, addresses }: NodeInterface): Promise<string | undefined> {
    for (const [address, portKey] of ports) {
      if (portKey !== key) continue;
      const isOwn = addresses.get(address);
      if (isOwn === false) return address;
      if (isOwn === undefined && (await this.#tagAndAssign(owner, key, id, address))) return address;
      // The interface's own address is no port, whatever a tag says.
      if (isOwn === true) await this.#untag(id, address, key);
    }
    return undefined;
  }

  async #assign(
    owner: string,
    { key, requested }: PortRequest,
    { id, subnetId }: NodeInterface,
    subnet: Subnet,
  ): Promise<string> {
    const { ips = [] } = requested;
    const [wanted] = ips;
    if (ips.length > 1) throw new Refusal(422, "a port of EC2 has one address");
    if (wanted !== undefined && !isAssignable(subnet, wanted))
      throw new Refusal(422, `address ${wanted} is not one that EC2 assigns in ${subnetId}`);
    for (let tried = 0; tried < maxTries; tried++) {
      const used = await this.#usedAddresses(subnetId);
      const isUsed = (address: string): boolean => used.has(address) || this.#chosen.has(`${subnetId}/${address}`);
      if (wanted !== undefined && isUsed(wanted)) throw new Refusal(409, `address ${wanted} of ${subnetId} is in use`);
      const address = wanted ?? chooseAddress(subnet, seedOf(key, tried), isUsed);
      if (address === undefined) throw new Refusal(507, `${subnetId} has no free address`);
      this.#chosen.add(`${subnetId}/${address}`);
      try {
        if (await this.#tagAndAssign(owner, key, id, address)) return address;
      } finally {
        this.#chosen.delete(`${subnetId}/${address}`);
      }
      if (wanted !== undefined) throw new Refusal(409, `address ${wanted} of ${subnetId} is in use`);
    }
    throw new Refusal(503, `EC2 gave ${maxTries} chosen addresses of ${subnetId} to others`);
  }

  /** False: the address belongs to somebody else. */
  async #tagAndAssign(owner: string, key: string, id: string, address: string): Promise<boolean> {
    const tags = [
      { Key: ownerTag, Value: owner },
      { Key: `${addressTag}${address}`, Value: key },
    ];
    await this.#client.send(new CreateTagsCommand({ Resources: [id], Tags: tags }));
    const assign = { NetworkInterfaceId: id, PrivateIpAddresses: [address], AllowReassignment: false };
    try {
      await this.#client.send(new AssignPrivateIpAddressesCommand(assign));
    } catch (error) {
      // Without a definite no, EC2 may have assigned the address: the tag stays, and the next ensure completes the port.
      if (!(error instanceof EC2ServiceException) || error.$fault !== "client") throw error;
      await this.#untag(id, address, key);
      if (error.name === "InvalidParameterValue") return false;
      throw error;
    }
    // Another provider of this owner may have written the same tag for its own key in between.
    const after = await this.#known(id);
    if (after.owner === owner && after.ports.get(address) === key && after.addresses.has(address)) return true;
    throw new Refusal(503, `interface ${id} changed while address ${address} was assigned`);
  }

  async #release(owner: string, key: string, id: string, address: string): Promise<void> {
    await this.#turns.take(id, async () => {
      const found = await interfaceOf(this.#client, id);
      if (found?.owner !== owner || found.ports.get(address) !== key) return;
      // The interface's own address never belongs to a port, whatever a tag says.
      if (found.addresses.get(address) === false) {
        const unassign = { NetworkInterfaceId: id, PrivateIpAddresses: [address] };
        await this.#client.send(new UnassignPrivateIpAddressesCommand(unassign));
      }
      await this.#untag(id, address, key);
    });
  }

  /** EC2 removes a tag that is named with its value only while the tag has this value. */
  async #untag(id: string, address: string, key: string): Promise<void> {
    const tags = [{ Key: `${addressTag}${address}`, Value: key }];
    await this.#client.send(new DeleteTagsCommand({ Resources: [id], Tags: tags }));
  }

  /** Assigned addresses of the subnet, and those that tags announce. */
  async #usedAddresses(subnetId: string): Promise<ReadonlySet<string>> {
    const all = await interfacesBy(this.#client, [{ Name: "subnet-id", Values: [subnetId] }]);
    return new Set(all.flatMap(({ addresses, ports }) => [...addresses.keys(), ...ports.keys()]));
  }
}

function readProviderId(providerId: string): { readonly id: string; readonly address: string } | undefined {
  const [, id, address] = /^(eni-[0-9a-f]{1,17})\/([0-9.]{7,15})$/.exec(providerId) ?? [];
  return id === undefined || address === undefined ? undefined : { id, address };
}

function seedOf(key: string, tried: number): number {
  return createHash("sha256").update(`${key} ${tried}`).digest().readUInt32BE(0);
}
