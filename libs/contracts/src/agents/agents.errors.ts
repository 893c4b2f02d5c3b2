import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `agents`. */
export const agentsErrors = defineErrors({
  agent_deploying: { kind: 'conflict', when: 'the agent is deploying, starting or restarting' },
  agent_failed: { kind: 'conflict', when: 'the agent has failed, see `reason`' },
  agent_name_taken: { kind: 'conflict', when: 'another agent of the account has this name' },
  agent_not_found: { kind: 'not_found', when: 'the account has no agent with this id' },
  agent_start_failed: { kind: 'upstream', when: "the agent's program did not start" },
  agent_stopped: { kind: 'conflict', when: 'the agent is stopped or stopping' },
  agent_unavailable: {
    kind: 'unavailable',
    when: 'the agent or its host cannot be reached; with `mayHaveBeenDone` the request may have been carried out',
  },
  app_unreachable: {
    kind: 'upstream',
    when: "nothing listens on the agent's `$PORT`, or the app ended the connection without a response",
  },
  compute_cap_reached: {
    kind: 'payment_required',
    when: 'the agents of the end user have been awake for as many minutes as its policy allows per month',
  },
  deployment_not_found: { kind: 'not_found', when: 'the agent has no deployment with this id' },
  env_too_large: {
    kind: 'conflict',
    when: "the agent's environment variables together are too large for one process",
  },
  env_var_not_found: { kind: 'not_found', when: 'the agent has no variable with this name' },
  external_id_taken: { kind: 'conflict', when: 'another agent of the account has this external id' },
  host_not_found: { kind: 'not_found', when: 'no host has this id' },
  host_not_lost: {
    kind: 'conflict',
    when: 'the host responds or was seen recently, so it cannot be removed',
  },
  image_refused: { kind: 'invalid', when: 'the operator does not allow images of this registry' },
  images_unsupported: { kind: 'unsupported', when: 'the host of the agent runs no container images' },
  no_capacity: {
    kind: 'unavailable',
    when: 'no ready host has the free memory and disk that the agent needs; nothing was created',
  },
  plan_limit_reached: {
    kind: 'payment_required',
    when: 'the account has as many agents as its plan allows',
  },
  repo_url_refused: {
    kind: 'invalid',
    when: 'Berth does not clone from this URL: its scheme, host, credentials or address is not allowed',
  },
  too_many_app_connections: { kind: 'exhausted', when: 'the app of the agent has too many open connections' },
  wake_limit_reached: {
    kind: 'exhausted',
    when: 'within 60 minutes, the agents of the end user were woken as often as its policy allows; see `Retry-After`',
  },
  unknown_template: { kind: 'invalid', when: 'no template has this id' },
});
