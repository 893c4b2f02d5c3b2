import { runService } from '@berth/service';
import { ExecModule } from './exec.module.js';

await runService(ExecModule, process.env);
