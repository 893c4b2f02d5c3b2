export { FakeUpstream, UPSTREAM_KEY } from './fake-upstream.js';
export type { Behaviour, Dialect, ReceivedRequest, TokenCounts, Turn } from './behaviour.js';
