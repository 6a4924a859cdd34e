// The changes that a recorded step made to the result.

import type { PageChange } from "../page-data.ts";

interface ChangesProps {
  readonly changes: readonly PageChange[];
  /** The step's plugin type. */
  readonly type: string;
}

/** The changes as a list of removed and added values, closed at first. */
export function Changes({ changes, type }: ChangesProps) {
  if (changes.length === 0) return <p class="muted no-changes">changes nothing in the result</p>;
  const count = `${changes.length} ${changes.length === 1 ? "change" : "changes"} of the result`;
  return (
    <details class="more changes">
      <summary>
        {count}
        <span class="hidden"> by {type}</span>
      </summary>
      <ul>
        {changes.map(({ path, before, after }) => (
          <li key={path}>
            <code class="pointer">{path}</code>
            {before !== null && (
              <del>
                <span aria-hidden="true">− </span>
                <code>{before}</code>
              </del>
            )}
            {after !== null && (
              <ins>
                <span aria-hidden="true">+ </span>
                <code>{after}</code>
              </ins>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
