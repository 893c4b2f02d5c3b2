import { randomUUID } from 'node:crypto';
import type {
  handleServerStreamingCall,
  handleUnaryCall,
  Server,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { unsupported } from './errors.js';
import {
  features,
  gossip,
  monitoringService,
  operationsService,
  persistentService,
  projectionsService,
  shared,
  usersService,
} from './protocol.js';

/* The version whose behaviour this server implements; the suffix marks it as a different server. */
const SERVER_VERSION = '24.6.0+berth.embedded';

const SUPPORTED = {
  'event_store.client.streams.streams': ['append', 'batchappend', 'read', 'delete', 'tombstone'],
  'event_store.client.gossip.gossip': ['read'],
  'event_store.client.server_features.serverfeatures': ['getsupportedmethods'],
};

/** Returns the features of this server; the client uses batch append because it is listed. */
export const supportedMethodsCall: handleUnaryCall<shared.Empty, features.SupportedMethods> = (
  _call,
  callback,
) => {
  const response = new features.SupportedMethods().setEventStoreServerVersion(SERVER_VERSION);
  for (const [service, methods] of Object.entries(SUPPORTED)) {
    for (const method of methods) {
      response.addMethods(new features.SupportedMethod().setServiceName(service).setMethodName(method));
    }
  }
  callback(null, response);
};

/** A cluster node as reported by gossip. */
export interface Member {
  readonly host: string;
  readonly port: number;
  readonly state: 'leader' | 'follower';
  readonly alive: boolean;
}

/** Returns the members of the cluster, so that a client with a discovery address can connect. */
export function gossipCall(
  members: () => readonly Member[],
): handleUnaryCall<shared.Empty, gossip.ClusterInfo> {
  const { LEADER, FOLLOWER } = gossip.MemberInfo.VNodeState;
  const ids: string[] = [];
  const toInfo = ({ host, port, state, alive }: Member, index: number): gossip.MemberInfo =>
    new gossip.MemberInfo()
      .setInstanceId(new shared.UUID().setString((ids[index] ??= randomUUID())))
      .setTimeStamp(`${Date.now()}0000`)
      .setState(state === 'leader' ? LEADER : FOLLOWER)
      .setIsAlive(alive)
      .setHttpEndPoint(new gossip.EndPoint().setAddress(host).setPort(port));
  return (_call, callback) => callback(null, new gossip.ClusterInfo().setMembersList(members().map(toInfo)));
}

/** Makes every call of an unsupported service fail with UNIMPLEMENTED and the reason. */
export function addUnsupportedServices(server: Server): void {
  addUnsupported(server, persistentService.PersistentSubscriptionsService, 'Persistent subscriptions');
  addUnsupported(server, projectionsService.ProjectionsService, 'Server-side projections');
  addUnsupported(server, usersService.UsersService, 'Users');
  addUnsupported(server, operationsService.OperationsService, 'Operations such as scavenge and shutdown');
  addUnsupported(server, monitoringService.MonitoringService, 'Statistics');
}

function addUnsupported(server: Server, service: ServiceDefinition, what: string): void {
  const refuseUnary: handleUnaryCall<unknown, unknown> = (_call, callback) => callback(unsupported(what));
  const refuseStream: handleServerStreamingCall<unknown, unknown> = (call) => {
    call.emit('error', unsupported(what));
  };
  const handlers: UntypedServiceImplementation = {};
  for (const [name, method] of Object.entries(service)) {
    handlers[name] = method.responseStream ? refuseStream : refuseUnary;
  }
  server.addService(service, handlers);
}
