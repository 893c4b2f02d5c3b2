import { jsonBody } from './body.js';
import type { CallOptions } from './config.js';
import type { PagePromise } from './page.js';
import type { QueryOf } from './query-types.js';
import { Resource } from './resource.js';
import { TimeLimit } from './time-limit.js';
import type { AcceptedDeployment, DeployBody, Deployment } from './types.js';
import { positiveOf, route } from './values.js';

const WAIT_MS = 1_800_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

/** The page of `deployments.list`. */
export type ListDeployments = QueryOf<'/api/agents/{agent_id}/deployments'>;

/** What is deployed. */
export interface CreateDeployment extends DeployBody {
  /** A branch, a tag or a full commit. */
  readonly ref?: string | null;
  /** The folder of the repository. */
  readonly path?: string | null;
  /** The command that builds it. */
  readonly build?: string | null;
  /** The command that starts it. */
  readonly start?: string | null;
  /** The port that the program listens on. */
  readonly port?: number | null;
  /** The user name of the clone, by default the one that the host expects. */
  readonly tokenUser?: string | null;
}

/** `berth.deployments` */
export class Deployments extends Resource {
  /** Deploys a repository or an image to an agent: `POST /api/deploy`. Returns before it is built; `wait` waits. */
  async create(deployment: CreateDeployment, options?: CallOptions): Promise<AcceptedDeployment> {
    return this.transport.object(
      { method: 'POST', path: '/api/deploy', body: jsonBody(deployment) },
      options,
    );
  }

  /** Lists the deployments of an agent, newest first: `GET /api/agents/{agentId}/deployments`. */
  list(agentId: string, query: ListDeployments = {}, options?: CallOptions): PagePromise<Deployment> {
    return this.pages(() => route`/api/agents/${agentId}/deployments`, options, query);
  }

  /** Returns a deployment: `GET /api/agents/{agentId}/deployments/{deploymentId}`. */
  async get(agentId: string, deploymentId: string, options?: CallOptions): Promise<Deployment> {
    return this.read(route`/api/agents/${agentId}/deployments/${deploymentId}`, options);
  }

  /** Returns a deployment once it is `succeeded` or `failed`. The time-out is 30 minutes by default. */
  async wait(agentId: string, deploymentId: string, options: CallOptions = {}): Promise<Deployment> {
    const ms = positiveOf(options.timeout, 'timeout') ?? WAIT_MS;
    const limit = new TimeLimit(ms, options.signal);
    try {
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
        const most = Math.min(limit.remaining, this.transport.timeoutOf({}));
        const deployment = await limit.within(
          this.get(agentId, deploymentId, { ...options, timeout: Math.max(1, most) }),
        );
        if (deployment.status === 'succeeded' || deployment.status === 'failed') return deployment;
        await limit.sleep(pause);
      }
    } finally {
      limit.close();
    }
  }

  /** Deploys the same commit or image again: `POST /api/agents/{agentId}/deployments/{deploymentId}/redeploy`. */
  async redeploy(agentId: string, deploymentId: string, options?: CallOptions): Promise<AcceptedDeployment> {
    const path = route`/api/agents/${agentId}/deployments/${deploymentId}/redeploy`;
    return this.transport.object({ method: 'POST', path }, options);
  }
}
