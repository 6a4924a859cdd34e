// The devices that a driver publishes for one node (Kubernetes API resource.k8s.io/v1, ResourceSlice), with the attributes that make a
// device usable for a network.

import { quote } from "../../../src/json/quote.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import { objectIn, objectsIn, textIn } from "./reading.ts";

/** The attribute with the ID that plugins get, such as a PCI address. */
export const deviceIdAttribute = "k8s.cni.cncf.io/deviceID";
/** The attribute with the resource that a definition names in its annotation `k8s.v1.cni.cncf.io/resourceName`. */
export const resourceNameAttribute = "k8s.cni.cncf.io/resourceName";

/** The attributes of a device. Empty: the device lacks the attribute. */
export interface DeviceAttributes {
  readonly deviceId: string;
  readonly resourceName: string;
}

/** Kubernetes' maximum of the devices of a slice (ResourceSliceMaxDevices). */
const maxDevices = 128;
/** Kubernetes' maximum of an attribute's text in characters (DeviceAttributeMaxValueLength); visible characters only, for paths and logs. */
const attributeText = /^[!-~]{1,64}$/;

interface Pool {
  generation: number;
  /** Number of slices that the newest generation has, as its slices say. */
  expected: number;
  slices: number;
  readonly devices: Map<string, DeviceAttributes>;
}

/** The devices of one driver on one node, of the newest generation of each pool. */
export class NodeDevices {
  readonly #driver: string;
  readonly #nodeName: string;
  readonly #pools = new Map<string, Pool>();

  constructor(driver: string, nodeName: string) {
    this.#driver = driver;
    this.#nodeName = nodeName;
  }

  /** Adds a slice. One of another driver or node is not used, whatever the API answered. Problem: the slice cannot be read. */
  add(slice: unknown): Reading<void> {
    const done = { ok: true, value: undefined } as const;
    const spec = objectIn(slice, "spec");
    if (textIn(spec, "driver") !== this.#driver || textIn(spec, "nodeName") !== this.#nodeName) return done;
    const name = quote(textIn(objectIn(slice, "metadata"), "name"), 64);
    const { generation, resourceSliceCount } = objectIn(spec, "pool");
    if (!isCount(generation) || !isCount(resourceSliceCount))
      return problem(`ResourceSlice ${name}: spec.pool has no generation`);
    const devices = objectsIn(spec, "devices", maxDevices);
    if (!devices.ok) return problem(`ResourceSlice ${name}: spec.${devices.problem}`);
    const pool = this.#poolOf(textIn(objectIn(spec, "pool"), "name"), generation);
    if (pool === undefined) return done;
    pool.slices += 1;
    pool.expected = resourceSliceCount;
    for (const device of devices.value) {
      const attributes = objectIn(device, "attributes");
      pool.devices.set(textIn(device, "name"), {
        deviceId: attributeOf(attributes, deviceIdAttribute),
        resourceName: attributeOf(attributes, resourceNameAttribute),
      });
    }
    return done;
  }

  /** The device; undefined if the driver doesn't publish it for the node. */
  find(pool: string, device: string): DeviceAttributes | undefined {
    return this.#pools.get(pool)?.devices.get(device);
  }

  /** Whether the driver is still publishing slices of the pool's newest generation. */
  isIncomplete(pool: string): boolean {
    const known = this.#pools.get(pool);
    return known !== undefined && known.slices < known.expected;
  }

  /** The pool for a slice of this generation; undefined if there are newer slices. */
  #poolOf(name: string, generation: number): Pool | undefined {
    const known = this.#pools.get(name);
    if (known !== undefined && known.generation > generation) return undefined;
    if (known?.generation === generation) return known;
    const pool = { generation, expected: 0, slices: 0, devices: new Map() };
    this.#pools.set(name, pool);
    return pool;
  }
}

function attributeOf(attributes: Readonly<Record<string, unknown>>, name: string): string {
  const text = textIn(objectIn(attributes, name), "string");
  return attributeText.test(text) ? text : "";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
