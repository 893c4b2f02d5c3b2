export { readFilesConfig, type FilesConfig } from './config.js';
export { startFiles } from './start-files.js';
