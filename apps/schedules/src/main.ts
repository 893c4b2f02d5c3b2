import { runService } from '@berth/service';
import { SchedulesModule } from './schedules.module.js';

await runService(SchedulesModule, process.env);
