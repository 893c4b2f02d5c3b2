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
export {
  downloadQuery,
  listFilesQuery,
  moveBody,
  PATH_LIMIT_BYTES,
  pathBody,
  pathQuery,
  uploadForm,
  writeBody,
  type DownloadQuery,
  type ListFilesQuery,
  type MoveBody,
  type PathBody,
  type PathQuery,
  type WriteBody,
} from './files.schemas.js';
export { fileNameOf, pathProblem } from './file-path.js';
export { filesErrors } from './files.errors.js';
export { aboutRequestedPaths } from './sealed-paths.js';
