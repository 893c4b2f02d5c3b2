export {
  FILE_LIMIT_BYTES,
  filesRequests,
  type ChangePath,
  type DiscardStaged,
  type MovePath,
  type OpenDownload,
  type OpenedStage,
  type OpenedTransfer,
  type OpenList,
  type OpenTransfer,
  type PutAttachment,
  type PutFile,
  type PutStaged,
  type StagedRef,
} from './files.requests.js';
export { filesErrors } from './files.errors.js';
