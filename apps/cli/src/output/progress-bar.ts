import type { RebuildProgress } from '@berth/contracts/operations';

const BAR_WIDTH = 30;

/** `[=====     ]  42 %  420 of 1,000 events  1,200/s  3 s left` */
export const formatProgress = ({ applied, total, eventsPerSecond, secondsLeft }: RebuildProgress): string => {
  if (total === null) return `${count(applied)} events  ${count(Math.round(eventsPerSecond))}/s`;
  const share = total === 0 ? 1 : Math.min(applied / total, 1);
  const filled = Math.floor(share * BAR_WIDTH);
  const bar = '='.repeat(filled).padEnd(BAR_WIDTH);
  const parts = [
    `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %`,
    `${count(applied)} of ${count(total)} events`,
    `${count(Math.round(eventsPerSecond))}/s`,
  ];
  if (secondsLeft !== null) parts.push(`${formatDuration(secondsLeft)} left`);
  return parts.join('  ');
};

/** Whole seconds up to two minutes, then minutes, then hours and minutes. */
export const formatDuration = (seconds: number): string => {
  const whole = Math.ceil(seconds);
  if (whole < 120) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

const count = (value: number): string => value.toLocaleString('en-US');
