import type { ApiResponse } from '../api.fixture.js';
import type { ContainerLane } from './container-lane.fixture.js';
import type { Operation, Plan } from './plan.fixture.js';

/** The agent of a seed. */
export interface Subject {
  readonly name: string;
  /** The value of one of its variables. */
  readonly secret: string;
  /** null: it is not created yet. */
  readonly id: string | null;
}

const subjectOf = ({ seed }: Plan): Subject => ({
  name: `seed ${String(seed)}`,
  secret: `sk-secret-of-seed-${String(seed)}`,
  id: null,
});

const creation = ({ name, secret }: Subject) => ({
  name,
  templateId: 'blank',
  idleTtlSeconds: 900,
  env: { SECRET: secret },
});

/** Brings the agent into the state that the operation begins with. */
export const prepare = async (lane: ContainerLane, plan: Plan): Promise<Subject> => {
  const subject = subjectOf(plan);
  if (plan.operation === 'create') return subject;
  const { id } = await lane.api.runningAgent(creation(subject));
  if (plan.operation === 'start') await lane.api.post(`/api/agents/${id}/stop`);
  if (plan.operation === 'wake') {
    await lane.api.post(`/api/agents/${id}/stop`);
    await lane.api.post(`/api/agents/${id}/sleep`);
    await lane.api.inState(id, 'sleeping');
  }
  return { ...subject, id };
};

/** Carries out the operation. */
export const act = async (lane: ContainerLane, plan: Plan, subject: Subject): Promise<ApiResponse> => {
  const path = `/api/agents/${subject.id ?? ''}`;
  const { api } = lane;
  const deploy = (more: Record<string, unknown>): Promise<ApiResponse> =>
    api.post('/api/deploy', { agentId: subject.id, ...more });
  const acts: Readonly<Record<Operation, () => Promise<ApiResponse>>> = {
    create: () => api.post('/api/agents', creation(subject)),
    start: () => api.post(`${path}/start`),
    stop: () => api.post(`${path}/stop`),
    sleep: () => api.post(`${path}/sleep`),
    wake: () => api.post(`${path}/exec`, { command: 'echo woken' }),
    remove: () => api.call('DELETE', path),
    build: () => deploy({ source: 'git', repoUrl: lane.repository }),
    pull: async () => deploy({ source: 'image', image: await lane.newImage(`seed-${String(plan.seed)}`) }),
  };
  return acts[plan.operation]();
};
