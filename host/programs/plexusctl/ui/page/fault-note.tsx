// A failure with its remedy.

import type { PageFault } from "../page-data.ts";

/** The error's message, kind, code and remedy. */
export function FaultNote({ failure: { fault, code, msg, remedy } }: { readonly failure: PageFault }) {
  return (
    <div class="fault">
      <p class="message">
        <bdi>{msg}</bdi>
      </p>
      <p>
        {fault !== "" && (
          <>
            <code>{fault}</code>,{" "}
          </>
        )}
        CNI code {code}
      </p>
      {remedy !== "" && (
        <p class="remedy">
          <strong>To do:</strong> <bdi>{remedy}</bdi>
        </p>
      )}
    </div>
  );
}
