/** The host and epoch of an awake agent. Requests to the host carry this epoch. */
export interface AwakeAgent {
  readonly agentId: string;
  /** The end user who owns the agent; null or absent without one. */
  readonly endUserId?: string | null;
  readonly host: string;
  readonly epoch: number;
  readonly guest: { readonly version: string; readonly capabilities: readonly string[] };
}
