export const AGENT_STATES = [
  'deploying',
  'starting',
  'running',
  'stopping',
  'stopped',
  'sleeping',
  'failed',
  'deleting',
] as const;
export type AgentState = (typeof AGENT_STATES)[number];

/** The full agent shape of the public API. Times are ISO 8601. */
export interface AgentView {
  readonly id: string;
  readonly name: string;
  readonly templateId: string;
  readonly externalId: string | null;
  readonly externalUserId: string | null;
  readonly instructions: string | null;
  readonly labels: { readonly [key: string]: string };
  readonly state: AgentState;
  readonly stateReason: string | null;
  readonly stateChangedAt: string;
  readonly lastError: { readonly code: string; readonly message: string; readonly at: string } | null;
  readonly idleTtlSeconds: number;
  readonly sleepDepth: 'warm' | 'cold' | null;
  readonly lastActiveAt: string;
  readonly lastActivityKind: string;
  readonly sleepAt: string | null;
  readonly nextWakeAt: string | null;
  readonly source: {
    readonly kind: 'template' | 'git' | 'image';
    readonly repoUrl?: string;
    readonly branch?: string;
    readonly commit?: string;
    readonly image?: string;
  };
  readonly resources: { readonly memMb: number; readonly vcpus: number; readonly diskGb: number };
  readonly guest: { readonly version: string; readonly capabilities: readonly string[] };
  /** Only the gateway knows it: null between services. */
  readonly appUrl: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A template as `GET /api/templates` lists it. */
export interface TemplateView {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly deprecated: boolean;
  readonly resources: { readonly memMb: number; readonly vcpus: number; readonly diskGb: number };
  readonly capabilities: readonly string[];
  readonly env: readonly { readonly key: string; readonly required: boolean; readonly description: string }[];
}

/** A variable as the API lists it: a secret's value is `********`. */
export interface EnvVarView {
  readonly key: string;
  readonly value: string;
  readonly isSecret: boolean;
  readonly updatedAt: string;
}
