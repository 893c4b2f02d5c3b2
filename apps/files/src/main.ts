import { runService } from '@berth/service';
import { FilesModule } from './files.module.js';

await runService(FilesModule, process.env);
