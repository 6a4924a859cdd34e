// Why an operation fails, as HTTP status and message.

/** A failure with its answer. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Errors of EC2 that say that there is no more to give. */
const exhausted: ReadonlySet<string> = new Set([
  "InsufficientFreeAddressesInSubnet",
  "NetworkInterfaceLimitExceeded",
  "PrivateIpAddressLimitExceeded",
  "ResourceLimitExceeded",
  "TagLimitExceeded",
]);
const busy: ReadonlySet<string> = new Set(["RequestLimitExceeded", "Throttling", "ThrottlingException"]);
const maxMessage = 400;

/** The refusal of an error. Errors of credentials and of the network are temporary for a pod, because an administrator corrects them. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  // Errors of the SDK's own, such as absent credentials and a lost connection, are no answers of EC2.
  const isAnswer = error instanceof Error && "$fault" in error;
  const text = `${isAnswer ? `EC2 answers ${name}` : "EC2 cannot be asked"}: ${message}`.slice(0, maxMessage);
  if (exhausted.has(name)) return new Refusal(507, text);
  return new Refusal(busy.has(name) ? 429 : 503, text);
}
