// Surrogate for European calls under Heston: one hidden layer, Monte Carlo labels made on the fly.
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

constexpr int IN = 6, HID = 96, BATCH = 64, PATHS = 60, STEPS = 40;

struct Sample { float x[IN]; float y; };
using Batch = std::vector<Sample>;

struct Stats {
    std::mutex mu;
    double mean = 0, m2 = 1;
    long n = 0;
    void add(double v) { ++n; double d = v - mean; mean += d / n; m2 += d * (v - mean); }
    double sd() const { return n > 2 ? std::sqrt(m2 / (n - 1)) + 1e-6 : 1.0; }
};

struct Pool {
    std::mutex mu;
    std::condition_variable filled, drained;
    std::deque<Batch> q;
    size_t cap = 24;
};

static Stats target;
static Pool pool;

static float price(const float* x, std::mt19937& g) {
    std::normal_distribution<float> N;
    float kappa = x[2], theta = x[3], xi = x[4], rho = x[5], T = x[1], K = x[0];
    float dt = T / STEPS, sum = 0, sq = std::sqrt(dt);
    for (int p = 0; p < PATHS; ++p) {
        float s = 0, v = theta;
        for (int i = 0; i < STEPS; ++i) {
            float a = N(g), b = rho * a + std::sqrt(1 - rho * rho) * N(g), vp = std::max(v, 0.f);
            s += -0.5f * vp * dt + std::sqrt(vp) * sq * a;
            v += kappa * (theta - vp) * dt + xi * std::sqrt(vp) * sq * b;
        }
        sum += std::max(std::exp(s) - K, 0.f);
    }
    return sum / PATHS;
}

static void sampler(unsigned seed) {
    std::mt19937 g(seed);
    std::uniform_real_distribution<float> U;
    for (;;) {
        {
            std::unique_lock<std::mutex> l(pool.mu);
            pool.drained.wait(l, [] { return pool.q.size() < pool.cap; });
        }
        std::lock_guard<std::mutex> s(target.mu);
        Batch b(BATCH);
        for (auto& e : b) {
            float lo[IN] = {0.7f, 0.1f, 0.5f, 0.02f, 0.1f, -0.9f}, hi[IN] = {1.3f, 2.f, 3.f, 0.12f, 0.8f, 0.f};
            for (int i = 0; i < IN; ++i) e.x[i] = lo[i] + (hi[i] - lo[i]) * U(g);
            e.y = price(e.x, g);
            target.add(e.y);
        }
        std::lock_guard<std::mutex> l(pool.mu);
        pool.q.push_back(std::move(b));
        pool.filled.notify_one();
    }
}

struct Net {
    std::vector<float> w1, b1, w2;
    float b2 = 0;
    Net() : w1(HID * IN), b1(HID), w2(HID) {
        std::mt19937 g(3);
        std::normal_distribution<float> N(0, 0.4f);
        for (auto& w : w1) w = N(g);
        for (auto& w : w2) w = N(g) * 0.25f;
    }
    float fit(const Batch& b, float mean, float sd, float lr) {
        float loss = 0;
        for (auto& e : b) {
            float h[HID], o = b2, y = (e.y - mean) / sd;
            for (int j = 0; j < HID; ++j) {
                float a = b1[j];
                for (int i = 0; i < IN; ++i) a += w1[j * IN + i] * e.x[i];
                h[j] = std::tanh(a);
                o += w2[j] * h[j];
            }
            float d = o - y;
            loss += d * d;
            for (int j = 0; j < HID; ++j) {
                float gh = d * w2[j] * (1 - h[j] * h[j]);
                w2[j] -= lr * d * h[j];
                b1[j] -= lr * gh;
                for (int i = 0; i < IN; ++i) w1[j * IN + i] -= lr * gh * e.x[i];
            }
            b2 -= lr * d;
        }
        return loss / b.size();
    }
};

int main() {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    auto t0 = std::chrono::steady_clock::now();
    printf("heston-surrogate: hidden=%d batch=%d paths=%d\n", HID, BATCH, PATHS);
    std::thread(sampler, 11u).detach();
    Net net;
    float mean = 0.12f, sd = 0.1f;
    for (int epoch = 1; epoch <= 500; ++epoch) {
        double loss = 0;
        const int n = 150;
        for (int i = 0; i < n; ++i) {
            Batch b;
            {
                std::unique_lock<std::mutex> l(pool.mu);
                pool.filled.wait(l, [] { return !pool.q.empty(); });
                b = std::move(pool.q.front());
                pool.q.pop_front();
                pool.drained.notify_one();
            }
            float m = 0;
            for (int r = 0; r < 12; ++r) m = net.fit(b, mean, sd, 2e-3f);
            loss += m;
        }
        double t = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
        printf("[%7.2fs] epoch %3d/500  mse(norm) %.5f  mean %.4f sd %.4f\n", t, epoch, loss / n, mean, sd);
        if (epoch % 3 == 0) {
            std::lock_guard<std::mutex> l(pool.mu);
            double left = 0;
            for (auto& b : pool.q) for (auto& e : b) left += e.y;
            std::lock_guard<std::mutex> s(target.mu);
            mean = float(target.mean), sd = float(target.sd());
            printf("           rescaled targets over %ld labels (%zu batches waiting, sum %.2f)\n", target.n, pool.q.size(), left);
        }
    }
}
