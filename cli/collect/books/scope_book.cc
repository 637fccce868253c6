// cli/collect/books/scope_book.cc: an inner scope's sums are added to the one around it when it ends or is left, not at
// each event: so an event costs the same at any depth.
#include "cli/collect/books/scope_book.h"

#include "cli/base/saturating.h"
#include "cli/model/profile/scopes.h"
#include "shared/scopes.h"

#include <algorithm>

namespace heapprof::cli {

ScopeTally& ScopeBook::tally_of(ScopePath* path, uint32_t device) {
  if (device == kHost) return path->host;
  for (ScopeTally& tally : path->devices) {
    if (tally.device == device) return tally;
  }
  path->devices.push_back({device, {}, {}, 0});
  return path->devices.back();
}

ScopeBook::Level& ScopeBook::level_of(Open* open, uint32_t device) {
  if (device == kHost) return open->host;
  for (auto& [number, level] : open->devices) {
    if (number == device) return level;
  }
  open->devices.emplace_back(device, Level{});
  return open->devices.back().second;
}

uint32_t ScopeBook::path_to(const ScopeKey& key) {
  const uint32_t latest = paths_[key.parent].latest;
  if (latest != 0 && paths_[latest] == key) return latest;
  const uint32_t path = find_path(key);
  if (paths_[path].parent == key.parent) paths_[key.parent].latest = path;
  return path;
}

uint32_t ScopeBook::find_path(const ScopeKey& key) {
  constexpr ScopeKey kOther = {0, wire::kOtherName};
  const auto [at, is_new] = index_.try_emplace(key, 0);
  if (!is_new) return at->second;
  if (paths_.size() >= kMostPaths && !(key == kOther)) {
    index_.erase(at);
    return find_path(kOther);
  }
  try {
    paths_.push_back({});
    instances_.add_path();
  } catch (const std::bad_alloc&) {
    if (paths_.size() > index_.size()) paths_.pop_back();
    index_.erase(at);
    throw;
  }
  static_cast<ScopeKey&>(paths_.back()) = key;
  at->second = static_cast<uint32_t>(paths_.size() - 1);
  return at->second;
}

uint32_t ScopeBook::new_stack() {
  if (free_stacks_.empty()) {
    stacks_.emplace_back(1);
    free_stacks_.reserve(stacks_.size());  // returning one needs no memory
    return static_cast<uint32_t>(stacks_.size() - 1);
  }
  const uint32_t stack = free_stacks_.back();
  free_stacks_.pop_back();
  return stack;
}

// Returns a stack without a scope to the free list.
uint32_t ScopeBook::settled(uint32_t stack) {
  if (stack == 0 || stacks_[stack].size() > 1) return stack;
  free_stacks_.push_back(stack);
  return 0;
}

void ScopeBook::note_begin(Open* open, uint64_t ticks) {
  open->is_timed = ticks != 0;
  open->since_ticks = ticks;
  open->begin_ticks = ticks;
  open->live_before_bytes = now_live_bytes_;
  open->thread_id = now_thread_id_;
  open->devices_before = instances_.hold_devices_live();
}

// pre: the sums of the scopes inside it have been added to it
void ScopeBook::keep_run(const Open& open, uint32_t flags) {
  if (!open.is_timed) return instances_.release(open.devices_before);
  int64_t growth_bytes = static_cast<int64_t>(open.host.growth);
  for (const auto& [device, level] : open.devices) {
    if (device != wire::kReservedDevice && !is_inner(device))
      growth_bytes = static_cast<int64_t>(static_cast<uint64_t>(growth_bytes) + level.growth);
  }
  const bool has_ended = flags == 0;
  if (!instances_.wants(open.path - 1, open.active_ticks, growth_bytes, has_ended))
    return instances_.release(open.devices_before);
  if (open.is_apart) flags |= kInstanceApart;
  if (open.was_left) flags |= kInstanceLeft;
  instances_.add(
      open.path - 1,
      {open.begin_ticks, std::max(now_ticks_, open.since_ticks), open.active_ticks, open.live_before_bytes,
       now_live_bytes_, growth_bytes, 0, open.thread_id, open.devices_before, instances_.hold_devices_live(), flags},
      has_ended);
}

uint32_t ScopeBook::begin(uint32_t stack, uint32_t name, uint64_t id, uint64_t ticks, uint32_t operator_word) {
  if (open_ >= kMostOpen) {
    ++lost_;
    return stack;
  }
  ScopeKey key{path_of(stack), name};
  if (operator_word != 0) {
    key.is_operator = true;
    if (wire::is_backward_operator(operator_word)) key.forward = operators_.forward_of(operator_word);
  }
  const uint32_t path = path_to(key);
  if (operator_word != 0) operators_.note(operator_word, path, now_thread_id_);
  if (stack == 0) stack = new_stack();
  Open fresh{};
  fresh.id = id;
  fresh.path = path;
  note_position(id, {stack, 0, stacks_[stack].size()});
  note_begin(&stacks_[stack].emplace_back(std::move(fresh)), ticks);
  ++paths_[path].begun;
  ++open_;
  return stack;
}

void ScopeBook::begin_apart(uint32_t name, uint64_t id, uint64_t ticks) {
  const uint32_t path = path_to({0, name});
  if (open_ >= kMostOpen || left_.count(id) != 0) {
    ++lost_;
    return;
  }
  Open fresh{};
  fresh.id = id;
  fresh.path = path;
  fresh.is_apart = true;
  note_position(id, {0, id, 0});
  note_begin(&left_[id].emplace_back(std::move(fresh)), ticks);
  ++paths_[path].begun;
  ++open_;
}

void ScopeBook::note_position(uint64_t id, Position position) {
  if (knows_positions_) [[unlikely]]
    positions_[id] = position;
}

void ScopeBook::learn_positions() {
  positions_.clear();
  for (uint32_t stack = 1; stack < stacks_.size(); ++stack) {
    for (size_t i = 1; i < stacks_[stack].size(); ++i) positions_[stacks_[stack][i].id] = {stack, 0, i};
  }
  for (const auto& [id, left] : left_) {
    for (size_t i = 0; i < left.size(); ++i) positions_[left[i].id] = {0, id, i};
  }
  knows_positions_ = true;
}

// Nearly always the scope is one of the thread's innermost ones. Otherwise it may be any thread's, and is looked up in
// a table. With a linear search, a program that has very many open scopes and ends scopes that are not open would need
// as much time for each end as for all begins.
const ScopeBook::Position* ScopeBook::find(uint32_t stack, uint64_t id) {
  const Stack& own = stacks_[stack];
  const size_t innermost = own.size() - std::min<size_t>(own.size() - 1, kLooks);
  for (size_t i = own.size(); i-- > innermost;) {
    if (own[i].id != id) continue;
    found_ = {stack, 0, i};
    return &found_;
  }
  if (!knows_positions_) learn_positions();
  const auto at = positions_.find(id);
  return at == positions_.end() ? nullptr : &at->second;
}

ScopeBook::Stack& ScopeBook::stack_at(const Position& position) {
  return position.stack != 0 ? stacks_[position.stack] : left_.find(position.left)->second;
}

// Adds the scope's time until now. ticks: 0 if unknown
void ScopeBook::count_time(Open* open, uint64_t ticks) {
  if (ticks == 0) open->is_timed = false;
  if (!open->is_timed) return;
  open->active_ticks += ticks - std::min(ticks, open->since_ticks);
  open->since_ticks = std::max(ticks, open->since_ticks);
}

void ScopeBook::pass_on(Level* inner, Level* outer) {
  outer->note(static_cast<int64_t>(outer->growth + (static_cast<uint64_t>(inner->peak) - inner->passed)));
  outer->growth += inner->growth - inner->passed;
  inner->passed = inner->growth;
  inner->peak = static_cast<int64_t>(inner->growth);
}

// Adds to the outer scope what the inner one did since this was last called.
void ScopeBook::pass_on(Open* inner, Open* outer) {
  outer->inner_ticks += inner->active_ticks - inner->passed_ticks;
  inner->passed_ticks = inner->active_ticks;
  pass_on(&inner->host, &outer->host);
  for (auto& [device, level] : inner->devices) pass_on(&level, &level_of(outer, device));
}

void ScopeBook::pass_all_on(Stack* stack) {
  for (size_t i = stack->size(); i-- > 1;) pass_on(&(*stack)[i], &(*stack)[i - 1]);
}

void ScopeBook::close(Stack* stack, size_t depth, uint64_t ticks, How how) {
  Open& open = (*stack)[depth];
  count_time(&open, ticks);
  if (depth > 0) pass_on(&open, &(*stack)[depth - 1]);
  ScopePath& path = paths_[open.path];
  const auto note_peak = [](ScopeTally* tally, const Level& level) {
    tally->peak_inside_bytes = std::max(tally->peak_inside_bytes, static_cast<uint64_t>(level.highest));
  };
  note_peak(&path.host, open.host);
  for (const auto& [device, level] : open.devices) note_peak(&tally_of(&path, device), level);
  path.items += open.items;
  if (how == How::kLeftOpen) {
    ++path.left_open;
  } else {
    ++path.ended;
    if (open.is_timed) {
      const uint64_t own_ticks = open.active_ticks - std::min(open.active_ticks, open.inner_ticks);
      path.shortest_ticks =
          path.ended - path.untimed == 1 ? open.active_ticks : std::min(path.shortest_ticks, open.active_ticks);
      path.longest_ticks = std::max(path.longest_ticks, open.active_ticks);
      path.ticks += open.active_ticks;
      path.own_ticks += own_ticks;
      const uint32_t bucket = duration_bucket(open.active_ticks);
      if (bucket >= path.durations.size()) path.durations.resize(bucket + 1);
      ++path.durations[bucket];
    } else {
      ++path.untimed;
    }
  }
  keep_run(open, how == How::kLeftOpen ? kInstanceLeftOpen : 0);
  if (knows_positions_) [[unlikely]]
    positions_.erase(open.id);
  stack->erase(stack->begin() + static_cast<std::ptrdiff_t>(depth));
  --open_;
}

void ScopeBook::close_last(Stack* stack, uint64_t ticks, How how) { close(stack, stack->size() - 1, ticks, how); }

uint32_t ScopeBook::end(uint32_t stack, uint64_t id, uint64_t ticks) {
  const Position* const found = find(stack, id);
  if (found == nullptr) return stack;
  now_ticks_ = ticks;
  const Position position = *found;
  Stack& open = stack_at(position);
  // The time of a scope that was left ended when it was left.
  const auto ticks_of = [&](const Open& last) {
    return position.stack == 0 && !last.is_apart ? last.since_ticks : ticks;
  };
  while (open.size() > position.depth + 1) close_last(&open, ticks_of(open.back()), How::kLeftOpen);
  close_last(&open, ticks_of(open.back()), How::kEnded);
  if (open.empty()) left_.erase(position.left);
  return position.stack == stack ? settled(stack) : stack;  // another thread's stack stays that thread's
}

// The scopes inside the scope stay open, and move into the scope around it. But if the scope is the outermost one of a
// part that was left, the whole part ends.
uint32_t ScopeBook::end_only(uint32_t stack, uint64_t id, uint64_t ticks) {
  const Position* const found = id == 0 ? nullptr : find(stack, id);
  if (found == nullptr) {
    ++unmatched_ends_;
    return stack;
  }
  const Position position = *found;
  Stack& open = stack_at(position);
  const bool is_whole = position.stack == 0 && position.depth == 0;  // the part that was left is kept by this id
  if (position.depth + 1 == open.size() || is_whole) return end(stack, id, ticks);
  for (size_t i = open.size(); i-- > position.depth + 1;) {
    if (position.stack != 0) count_time(&open[i], ticks);
    pass_on(&open[i], &open[i - 1]);
  }
  now_ticks_ = ticks;
  close(&open, position.depth, position.stack != 0 ? ticks : open[position.depth].since_ticks, How::kEnded);
  for (size_t i = position.depth; i < open.size(); ++i) note_position(open[i].id, {position.stack, position.left, i});
  return stack;
}

uint32_t ScopeBook::leave(uint32_t stack, uint64_t id, uint64_t ticks) {
  const Position* const found = find(stack, id);
  if (found == nullptr || found->stack != stack || stack == 0 || left_.count(id) != 0) return stack;
  const size_t depth = found->depth;
  Stack& open = stacks_[stack];
  for (size_t i = open.size(); i-- > depth;) {
    count_time(&open[i], ticks);
    pass_on(&open[i], &open[i - 1]);
    open[i].was_left = true;
  }
  const auto first = open.begin() + static_cast<std::ptrdiff_t>(depth);
  Stack& left = left_[id];
  left.assign(std::make_move_iterator(first), std::make_move_iterator(open.end()));
  open.erase(first, open.end());
  for (size_t i = 0; i < left.size(); ++i) note_position(left[i].id, {0, id, i});
  return settled(stack);
}

uint32_t ScopeBook::enter(uint32_t stack, uint64_t id, uint64_t ticks) {
  const auto left = left_.find(id);
  if (left == left_.end() || left->second.front().is_apart) return stack;
  if (stack == 0) stack = new_stack();
  for (Open& open : left->second) {
    if (ticks == 0) open.is_timed = false;
    open.since_ticks = ticks;
    note_position(open.id, {stack, 0, stacks_[stack].size()});
    stacks_[stack].push_back(std::move(open));
  }
  left_.erase(left);
  return stack;
}

void ScopeBook::add_items(uint32_t stack, uint64_t id, uint64_t items) {
  if (const Position* const position = find(stack, id)) stack_at(*position)[position->depth].items += items;
}

void ScopeBook::end_all(uint32_t stack, uint64_t ticks) {
  if (stack == 0) return;
  now_ticks_ = ticks;
  while (stacks_[stack].size() > 1) close_last(&stacks_[stack], ticks, How::kLeftOpen);
  settled(stack);
}

void ScopeBook::mark(MarkedMoment&& moment) {
  if (marks_.size() >= kMostMarks) {
    ++lost_marks_;
    return;
  }
  marks_.push_back(std::move(moment));
}

void ScopeBook::change(uint32_t stack, uint32_t device, Amount allocated, Amount freed) {
  Open& innermost = stacks_[stack].back();
  ScopeTally& tally = tally_of(&paths_[innermost.path], device);
  count_allocation(&tally, allocated);
  count_free(&tally, freed);
  Level& level = level_of(&innermost, device);
  level.growth -= freed.bytes;
  level.rise(allocated.bytes);
}

void ScopeBook::call(uint32_t stack, wire::DeviceCall call, uint64_t duration_ticks, uint64_t size_bytes) {
  CallSum& sum = paths_[stacks_[stack].back().path].calls[static_cast<uint32_t>(call)];
  ++sum.count;
  sum.duration_ticks += duration_ticks;
  add_to(&sum.size_bytes, size_bytes);
}

// Scopes that are open at the end do not add to their path's time, but they have peaks, and count as runs.
void ScopeBook::finish(uint64_t end_ticks) {
  now_ticks_ = end_ticks;
  const auto note_peaks = [this, end_ticks](Stack* stack, bool is_left) {
    pass_all_on(stack);
    for (Open& open : *stack) {
      if (open.path == 0) continue;  // outside all scopes
      ScopePath& path = paths_[open.path];
      const auto note = [](ScopeTally* tally, const Level& level) {
        tally->peak_inside_bytes = std::max(tally->peak_inside_bytes, static_cast<uint64_t>(level.highest));
      };
      note(&path.host, open.host);
      for (const auto& [device, level] : open.devices) note(&tally_of(&path, device), level);
      if (!is_left || open.is_apart) count_time(&open, end_ticks);
      keep_run(open, kInstanceOpen);
    }
  };
  for (Stack& stack : stacks_) note_peaks(&stack, false);
  for (auto& [id, stack] : left_) note_peaks(&stack, true);
}

uint64_t ScopeBook::begun() const {
  uint64_t sum = 0;
  for (const ScopePath& path : paths_) sum += path.begun;
  return sum;
}

uint64_t ScopeBook::allocated_blocks() const {
  uint64_t sum = 0;
  for (size_t i = 1; i < paths_.size(); ++i) sum += paths_[i].host.allocated.blocks;
  return sum;
}

}  // namespace heapprof::cli
