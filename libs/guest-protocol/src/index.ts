export {
  GUEST_LIMITS,
  GUEST_ROUTES,
  guestEnv,
  type DeliverToProgram,
  type GuestErrorBody,
  type GuestEvent,
  type GuestEvents,
  type GuestHealth,
  type GuestRoute,
  type ProgramAnswer,
  type ProgramState,
  type PutEnv,
  type PutProgram,
  type RestartPolicy,
  type ShutDown,
} from './guest-api.js';
export { GENERATIONS, isGeneration, type Generation, type GuestIdentity } from './generations.js';
export {
  decodeLogLine,
  encodeLogLine,
  LOG_FILE_BYTES,
  LOG_FILES,
  logFileName,
  logFileNumber,
  newestLogFile,
  type LogLine,
} from './log-file.js';
