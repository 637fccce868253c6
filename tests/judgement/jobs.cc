// tests/judgement/jobs.cc: what is wrong with it, or not, stands in truth.tsv.
// jobs: cluster scheduler: places jobs on nodes, retries the failed ones on another node.
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <queue>
#include <string>
#include <vector>

struct Job {
    long id;
    int cores;
    long finish_at = 0;
    int attempts = 0;
    std::string command;
    std::vector<double> usage;
};

struct Incident {
    long job, at;
    int node;
    std::string command;
    std::vector<double> usage;
};

struct Node {
    int free_cores = 32;
    long failures = 0;
    long degraded_from = -1;
};

struct FinishesLater {
    bool operator()(const std::unique_ptr<Job> &a, const std::unique_ptr<Job> &b) const
    {
        return a->finish_at > b->finish_at;
    }
};

class Scheduler {
    std::vector<Node> nodes_;
    std::deque<std::unique_ptr<Job>> waiting_;
    std::vector<std::vector<std::unique_ptr<Job>>> running_;
    std::vector<Incident> incidents_;
    std::uint64_t state_ = 64;
    long now_ = 0, next_id_ = 1, done_ = 0, given_up_ = 0;

    unsigned next(unsigned limit)
    {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return unsigned(state_ >> 33) % limit;
    }

    void report_failure(const Job &job, int node)
    {
        nodes_[node].failures++;
        incidents_.push_back(Incident{job.id, now_, node, job.command, job.usage});
    }

    void finish(std::unique_ptr<Job> job, int node)
    {
        Node &n = nodes_[node];
        n.free_cores += job->cores;
        bool degraded = n.degraded_from >= 0 && now_ >= n.degraded_from;
        if (degraded && next(3) == 0) {
            report_failure(*job, node);
            if (++job->attempts < 4)
                waiting_.push_back(std::move(job));
            else
                given_up_++;
            return;
        }
        done_++;
    }

    bool place(std::unique_ptr<Job> &job)
    {
        for (std::size_t k = 0; k < nodes_.size(); k++) {
            std::size_t n = (std::size_t(job->id + job->attempts * 5) + k) % nodes_.size();
            if (nodes_[n].free_cores < job->cores)
                continue;
            nodes_[n].free_cores -= job->cores;
            job->finish_at = now_ + 3 + next(12);
            running_[n].push_back(std::move(job));
            return true;
        }
        return false;
    }

public:
    explicit Scheduler(int nodes) : nodes_(nodes), running_(nodes) {}

    void degrade(int node, long from) { nodes_[node].degraded_from = from; }

    void submit()
    {
        auto job = std::make_unique<Job>();
        job->id = next_id_++;
        job->cores = 1 + int(next(6));
        job->command = "/opt/solver/run --case " + std::to_string(job->id) + " --threads " + std::to_string(job->cores);
        job->usage.resize(150 + next(100));
        waiting_.push_back(std::move(job));
    }

    void tick()
    {
        now_++;
        for (std::size_t n = 0; n < running_.size(); n++)
            for (std::size_t i = 0; i < running_[n].size();) {
                Job &j = *running_[n][i];
                j.usage[std::size_t(now_) % j.usage.size()] += j.cores * 0.9;
                if (j.finish_at > now_) {
                    i++;
                    continue;
                }
                std::unique_ptr<Job> job = std::move(running_[n][i]);
                running_[n][i] = std::move(running_[n].back());
                running_[n].pop_back();
                finish(std::move(job), int(n));
            }
        for (std::size_t tries = waiting_.size(); tries-- > 0;) {
            std::unique_ptr<Job> job = std::move(waiting_.front());
            waiting_.pop_front();
            if (!place(job))
                waiting_.push_back(std::move(job));
        }
    }

    void print_summary() const
    {
        long failures = 0;
        for (const Node &n : nodes_)
            failures += n.failures;
        std::printf("t=%ld done=%ld waiting=%zu failures=%ld given up=%ld\n", now_, done_, waiting_.size(), failures, given_up_);
        if (!incidents_.empty())
            std::printf("last incident: job %ld on node %d at %ld: %s\n", incidents_.back().job,
                        incidents_.back().node, incidents_.back().at, incidents_.back().command.c_str());
    }
};

int main()
{
    Scheduler s(300);
    for (int n = 0; n < 110; n++)
        s.degrade(n, 5200);
    for (long t = 0; t < 8000; t++) {
        for (int k = 0; k < 220; k++)
            s.submit();
        s.tick();
    }
    s.print_summary();
}
