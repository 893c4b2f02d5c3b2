export { schedulesErrors } from './schedules.errors.js';
export { schedulesEvents, type NextWakeChanged } from './schedules.events.js';
export {
  schedulesRequests,
  type ListSchedules,
  type PublishSchedules,
  type ReportPolledSchedules,
  type ScheduleView,
} from './schedules.requests.js';
export { publishSchedulesBody, SCHEDULE_LIMITS, type PublishSchedulesBody } from './schedules.schemas.js';
