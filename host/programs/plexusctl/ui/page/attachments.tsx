// All attachments as a table: the picture's content as text.

import { sizeText } from "../../../../../src/text/size-text.ts";
import { ageOf } from "../../age.ts";
import type { PageData } from "../page-data.ts";
import { isUrgent } from "./picture-layout.ts";
import { Nothing, Section } from "./section.tsx";
import { matches } from "./texts.ts";

/** Rows that are shown; the filter finds the others. */
const maxRows = 200;

/** The table of attachments. */
export function Attachments({
  data: { attachments, moreAttachments, time },
  wanted,
}: {
  readonly data: PageData;
  readonly wanted: string;
}) {
  const found = attachments.filter(({ pod, container, network, addresses }) =>
    matches(wanted, pod, container, network, ...addresses),
  );
  const isCounted = attachments.some(({ traffic }) => traffic !== undefined);
  const hidden = Math.max(0, found.length - maxRows) + moreAttachments;
  return (
    <Section id="attachments" title="Attachments">
      {found.length === 0 ? (
        <Nothing>{attachments.length === 0 ? "No pod is attached." : "No attachment matches the filter."}</Nothing>
      ) : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Attachments, can be scrolled">
          <table>
            <thead>
              <tr>
                {[
                  "Pod",
                  "Interface",
                  "Network",
                  "Source",
                  "Addresses",
                  ...(isCounted ? ["Receives", "Sends"] : []),
                  "State",
                  "Since",
                ].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {found.slice(0, maxRows).map((each) => (
                <Row
                  key={`${each.container} ${each.network} ${each.ifname}`}
                  attachment={each}
                  isCounted={isCounted}
                  time={time}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hidden > 0 && <p class="muted">{hidden} further attachments are not shown: use the filter, or plexusctl attachments.</p>}
    </Section>
  );
}

/** One attachment. `isCounted`: the table has the columns of its traffic. */
function Row({
  attachment,
  isCounted,
  time,
}: {
  readonly attachment: PageData["attachments"][number];
  readonly isCounted: boolean;
  readonly time: PageData["time"];
}) {
  return (
    <tr>
      <th scope="row">
        <bdi>{attachment.pod || `container ${attachment.container.slice(0, 12)}`}</bdi>
      </th>
      <td>
        <code>{attachment.ifname}</code>
      </td>
      <td>
        <bdi>{attachment.network}</bdi>
      </td>
      <td>
        <bdi>{attachment.source}</bdi>
      </td>
      <td class="addresses">
        <code>{attachment.addresses.join(" ")}</code>
      </td>
      {isCounted && <td>{attachment.traffic && `${sizeText(attachment.traffic.receive.bytes)}/s`}</td>}
      {isCounted && <td>{attachment.traffic && `${sizeText(attachment.traffic.transmit.bytes)}/s`}</td>}
      <td class={isUrgent(attachment) ? "outcome failed" : ""}>
        {isUrgent(attachment)
          ? `✕ ${attachment.state}${attachment.failures > 0 ? `, ${attachment.failures} DEL failed` : ""}`
          : attachment.state}
        {attachment.why !== undefined && (
          <p class="bad-text">
            <bdi>{attachment.why}</bdi>
          </p>
        )}
      </td>
      <td>{ageOf(attachment.since, time, "words")}</td>
    </tr>
  );
}
