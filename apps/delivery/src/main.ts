import { runService } from '@berth/service';
import { DeliveryModule } from './delivery.module.js';

await runService(DeliveryModule, process.env);
