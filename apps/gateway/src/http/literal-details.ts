import type { Json } from '@berth/kernel';

/** An error with a documented, literal `detail`, sent without `message`. */
export interface LiteralDetail {
  readonly status: number;
  readonly detail: Json;
}

/** By the code that services use between themselves. */
export const LITERAL_DETAILS: Readonly<Record<string, LiteralDetail>> = {
  execution_not_found: { status: 404, detail: 'Execution not found' },
  vm_not_ready: {
    status: 409,
    detail: { code: 'vm_not_ready', state: 'starting', execution_started: false },
  },
  detached_unsupported: {
    status: 501,
    detail: 'unsupported: outdated vm. Please use a new agent.',
  },
  guest_command_unavailable: {
    status: 503,
    detail: { code: 'guest_command_unavailable', execution_started: false },
  },
};
