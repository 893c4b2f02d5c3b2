export { startTestInfra, type InfraPart, type TestInfra } from './test-infra.js';
export { provideCluster } from './shared-infra/database-template.js';
export { eventually, type EventuallyOptions } from './eventually.js';
export { GitServer, type RepositoryEntry, type RepositoryOptions } from './git-server.js';
export { freePort } from './free-port.js';
export { NatsServer } from './nats-server.js';
export { programArguments } from './program-arguments.js';
export { runningTime, type RunningTime } from './running-time.js';
export { sendBodyLate, type LateBodyResult } from './late-body.js';
export { BrokerProxy } from './broker-proxy.js';
export { TcpProxy } from './tcp-proxy.js';
export { describeGoldenEvents } from './golden-events.js';
export { describeHttpFramings, RequestRecorder, type ForwardingHop } from './http-framings.js';
export { Dice } from './dice.js';
export { freshSeeds, seedsFrom } from './seeds.js';
export {
  FAULTS,
  FaultyProcess,
  type FaultKind,
  type Outcome,
  type PlannedFault,
  type StruckFault,
} from './faulty-process.js';
export { EventStoreCluster } from './event-store-cluster.js';
export { EventStoreProxy, type CallFault, type ProxiedCall } from './event-store-proxy.js';
export { ImageRegistry, type ImageProgram, type RegistryFault } from './image-registry.js';
export { containerTestHost, loadTestImage, type ContainerTestHost } from './container-images.js';
export { SteppedClock } from './stepped-clock.js';
