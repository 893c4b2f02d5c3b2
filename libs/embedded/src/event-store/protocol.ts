/*
 * The generated protocol code is CommonJS with exports that Node cannot detect, so each module is imported as one
 * object.
 */
import any from 'google-protobuf/google/protobuf/any_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import rpcCode from '@eventstore/db-client/generated/code_pb.js';
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import monitoringService from '@eventstore/db-client/generated/monitoring_grpc_pb.js';
import operationsService from '@eventstore/db-client/generated/operations_grpc_pb.js';
import persistentService from '@eventstore/db-client/generated/persistent_grpc_pb.js';
import projectionsService from '@eventstore/db-client/generated/projections_grpc_pb.js';
import featuresService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import rpcStatus from '@eventstore/db-client/generated/status_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import usersService from '@eventstore/db-client/generated/users_grpc_pb.js';

export {
  any,
  empty,
  features,
  featuresService,
  gossip,
  gossipService,
  monitoringService,
  operationsService,
  persistentService,
  projectionsService,
  rpcCode,
  rpcStatus,
  shared,
  streams,
  streamsService,
  usersService,
};
