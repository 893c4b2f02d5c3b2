import { runService } from '@berth/service';
import { RuntimeModule } from './runtime.module.js';

await runService(RuntimeModule, process.env);
