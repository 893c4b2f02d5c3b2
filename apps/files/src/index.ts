export { readFilesConfig, type FilesConfig } from './config.js';
export { FilesModule } from './files.module.js';
