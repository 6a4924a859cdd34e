// Tries the connections of a scenario between the pods' servers, in both families.

import { addressesOf, type Cast, networks, places, type Scenario } from "./scenario.ts";
import type { ReachServer } from "./reach-server.ts";

/** Connections, as the scenario writes them, with the family. */
export interface Verdict {
  /** The connections that were answered. */
  readonly answered: readonly string[];
  /** The connections whose first packet passed the policies of the other end. */
  readonly arrived: readonly string[];
}

interface Connection {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly target: string;
  /** The first packet in the list of those that passed. */
  readonly packet: string;
  readonly isAllowed: boolean;
}

/** The verdict that the scenario demands. */
export function demanded({ passes }: Scenario): Verdict {
  const allowed = passes.flatMap((text) => [`${text} IPv4`, `${text} IPv6`]);
  return { answered: allowed, arrived: allowed };
}

/** Tries the connections of all pods at once. `servers`: by place. */
export async function judgeScenario(
  scenario: Scenario,
  cast: readonly Cast[],
  servers: readonly ReachServer[],
): Promise<Verdict> {
  const connections = connectionsOf(scenario, cast);
  const targets = new Set(connections.map(({ to }) => to));
  await Promise.all([...targets].map((place) => servers[place]?.reset()));
  const asked = [...Map.groupBy(connections, ({ from }) => from)].map(async ([from, own]) => {
    const count = own.filter(({ isAllowed }) => isAllowed).length;
    const answers = await servers[from]?.ask(
      own.map(({ target }) => target),
      count,
    );
    return own.filter(({ target }) => answers?.includes(target) === true);
  });
  const answered = new Set((await Promise.all(asked)).flat());
  const passed = new Map(
    await Promise.all([...targets].map(async (place) => [place, (await servers[place]?.passed()) ?? ""] as const)),
  );
  const texts = (isTold: (each: Connection) => boolean): readonly string[] => connections.filter(isTold).map(({ text }) => text);
  return {
    answered: texts((each) => answered.has(each)),
    arrived: texts(({ to, packet }) => passed.get(to)?.includes(packet) === true),
  };
}

function connectionsOf({ name, passes, stops }: Scenario, cast: readonly Cast[]): readonly Connection[] {
  const placeOf = (role: string): number => {
    const index = cast.findIndex((each) => each.role === role);
    if (index < 0) throw new TypeError(`${name} has no pod ${role}`);
    return index;
  };
  const read = (text: string, isAllowed: boolean): readonly Connection[] => {
    const [from = "", to = "", target = "", wire = "red"] = text.split(" ");
    const [port = "", protocol = "tcp"] = target.split("/");
    const network = networks.find((each) => each.name === wire);
    if (network === undefined) throw new TypeError(`${name}: ${text} is on no network`);
    const [source, destination] = [placeOf(from), placeOf(to)];
    const [sources, destinations] = [source, destination].map((index) => {
      const place = places[index];
      return place === undefined ? [] : addressesOf(place, network);
    });
    const number = protocol === "tcp" ? 6 : 17;
    return ["IPv4", "IPv6"].map((family, index) => ({
      text: `${text} ${family}`,
      from: source,
      to: destination,
      target: `${protocol}/${destinations?.[index]}/${port}`,
      packet: `${sources?.[index]} . ${number} . ${destinations?.[index]} . ${port}`,
      isAllowed,
    }));
  };
  return [...passes.flatMap((text) => read(text, true)), ...stops.flatMap((text) => read(text, false))];
}
