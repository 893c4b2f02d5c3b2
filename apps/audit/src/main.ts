import { runService } from '@berth/service';
import { AuditModule } from './audit.module.js';

await runService(AuditModule, process.env);
