// The configuration, read like the reference plugin does.

import { Bucket, Shape } from "plexus/abi/shaping";
import { Fault, Network } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { Config } from "plexus/config";
import { folded, foldedMember } from "plexus/folded";
import { quote } from "plexus/json";

const boundKeys: StaticArray<string> = [
  "ingressRate",
  "ingressBurst",
  "egressRate",
  "egressBurst",
  "shapedSubnets",
  "unshapedSubnets",
];
const runtimeKeys: StaticArray<string> = ["bandwidth"];
const topKeys: StaticArray<string> = ["runtimeConfig"];

/** Milliseconds that a packet waits at most, as in the reference plugin. */
const latency: u32 = 25;
/** The reference plugin's bound of a burst in bytes. */
const burstBytesEnd: u64 = 0xffff_ffff;

/** All settings. With a fault, the shape must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  /** Null: nothing is bounded. */
  shape: Shape | null = null;

  static read(network: Network): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const own = folded(top, top.json, "", boundKeys) as Config;
    if (hasBounds(own)) settings.shape = shapeOf(own);
    else {
      const runtime = foldedMember(folded(top, top.json, "", topKeys) as Config, "runtimeConfig", runtimeKeys);
      const bandwidth: Config | null = runtime === null ? null : foldedMember(runtime, "bandwidth", boundKeys);
      if (bandwidth !== null) settings.shape = shapeOf(bandwidth);
    }
    settings.fault = top.fault;
    return settings;
  }
}

/** Bounds of the configuration take precedence over those of the runtime, as a whole. */
function hasBounds(config: Config): bool {
  for (let i = 0; i < boundKeys.length; i++) if (config.has(boundKeys[i])) return true;
  return false;
}

function shapeOf(config: Config): Shape | null {
  const ingress = bucketOf(config, "ingressRate", "ingressBurst");
  const egress = bucketOf(config, "egressRate", "egressBurst");
  const shaped = subnetsOf(config, "shapedSubnets");
  const unshaped = subnetsOf(config, "unshapedSubnets");
  if (shaped.length > 0 && unshaped.length > 0)
    config.refuse("shapedSubnets", "can't be set together with unshapedSubnets: remove one of them");
  if (ingress === null && egress === null) return null;
  const shape = new Shape();
  shape.ingress = ingress;
  shape.egress = egress;
  shape.networks = shaped;
  shape.exempt = unshaped;
  return shape;
}

/** Null: a rate and a burst of 0 are no bound. */
function bucketOf(config: Config, rateKey: string, burstKey: string): Bucket | null {
  const rate = bits(config, rateKey);
  const burst = bits(config, burstKey);
  if (rate == 0 && burst == 0) return null;
  if (burst == 0) config.refuse(burstKey, `must be set because ${rateKey} is set`);
  else if (rate == 0) config.refuse(rateKey, `must be set because ${burstKey} is set`);
  else if (rate < 8) config.refuse(rateKey, "must be at least 8 bits per second");
  else if (burst < 8) config.refuse(burstKey, "must be at least 8 bits");
  else if (burst / 8 >= burstBytesEnd) config.refuse(burstKey, "must be less than 4 GiB, in bits");
  return new Bucket(rate, burst, latency);
}

function bits(config: Config, key: string): u64 {
  const number = config.integer(key);
  if (number === null) return 0;
  if (number.value >= 0) return <u64>number.value;
  config.refuse(key, "must not be negative");
  return 0;
}

function subnetsOf(config: Config, key: string): Array<string> {
  const texts = config.strings(key);
  if (texts === null) return new Array<string>();
  for (let i = 0; i < texts.length; i++) {
    if (Cidr.parse(texts[i]) === null) config.refuse(`${key}[${i}]`, `${quote(texts[i])} is not a network such as 10.0.0.0/8`);
  }
  return texts;
}
