import { runService } from '@berth/service';
import { BillingModule } from './billing.module.js';

await runService(BillingModule, process.env);
