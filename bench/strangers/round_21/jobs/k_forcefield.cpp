// Neural pair potential fitted to reference energies. g++ -O2 -o ff k_forcefield.cpp && ./ff
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

constexpr int A = 10, R = 14, H = 40, BATCH = 24;
std::mt19937 gen(7);
std::normal_distribution<double> normal;

struct Layer {
    int in, out;
    std::vector<double> w, g, v;
    Layer(int i, int o) : in(i), out(o), w((i + 1) * o), g((i + 1) * o), v((i + 1) * o) {
        for (auto &x : w) x = normal(gen) / std::sqrt(i + 1.0);
    }
    void forward(const double *x, double *y) const {
        for (int o = 0; o < out; o++) {
            double s = w[o * (in + 1) + in];
            for (int i = 0; i < in; i++) s += w[o * (in + 1) + i] * x[i];
            y[o] = s;
        }
    }
    void backward(const double *x, const double *dy, double *dx) {
        for (int i = 0; dx && i < in; i++) dx[i] = 0;
        for (int o = 0; o < out; o++) {
            for (int i = 0; i < in; i++) {
                g[o * (in + 1) + i] += dy[o] * x[i];
                if (dx) dx[i] += dy[o] * w[o * (in + 1) + i];
            }
            g[o * (in + 1) + in] += dy[o];
        }
    }
    void update(double rate) {
        for (size_t k = 0; k < w.size(); k++) {
            v[k] = 0.9 * v[k] - rate * g[k];
            w[k] += v[k];
            g[k] = 0;
        }
    }
};

struct Molecule {
    double p[A][3];
    double energy = 0;
    Molecule() {
        for (auto &q : p) for (double &c : q) c = 1.3 * normal(gen);
        for (int a = 0; a < A; a++)
            for (int b = 0; b < a; b++) {
                double d = dist(a, b), s = 1.1 / (d + 0.9);
                energy += 0.4 * (std::pow(s, 6) - std::pow(s, 3)) + 0.1 * std::sin(3 * d);
            }
        energy = energy / 2 + 0.1 * normal(gen);
    }
    double dist(int a, int b) const {
        double s = 0;
        for (int k = 0; k < 3; k++) s += (p[a][k] - p[b][k]) * (p[a][k] - p[b][k]);
        return std::sqrt(s);
    }
};

int main() {
    Layer one(R, H), two(H, H), three(H, 1);
    static char block[1 << 14];
    setvbuf(stdout, block, _IOFBF, sizeof block);
    double mean = 0;
    int lines = 0;
    std::printf("%10s %14s %14s\n", "NSTEP", "LOSS", "RATE");
    for (long n = 1; n <= 400000000; n++) {
        double rate = 1e-4 / (1 + n / 200000.0), loss = 0;
        for (int m = 0; m < BATCH; m++) {
            Molecule mol;
            double f[A][R] = {}, z1[A][H], z2[A][H], e = 0, ea;
            for (int a = 0; a < A; a++) {
                for (int b = 0; b < A; b++)
                    if (a != b)
                        for (int r = 0; r < R; r++) f[a][r] += std::exp(-3 * std::pow(mol.dist(a, b) - 0.35 * r, 2));
                one.forward(f[a], z1[a]);
                for (double &x : z1[a]) x = std::tanh(x);
                two.forward(z1[a], z2[a]);
                for (double &x : z2[a]) x = std::tanh(x);
                three.forward(z2[a], &ea);
                e += ea;
            }
            double err = e - mol.energy, d3 = 2 * err / BATCH, d2[H], d1[H];
            loss += err * err / BATCH;
            for (int a = 0; a < A; a++) {
                three.backward(z2[a], &d3, d2);
                for (int h = 0; h < H; h++) d2[h] *= 1 - z2[a][h] * z2[a][h];
                two.backward(z1[a], d2, d1);
                for (int h = 0; h < H; h++) d1[h] *= 1 - z1[a][h] * z1[a][h];
                one.backward(f[a], d1, nullptr);
            }
        }
        one.update(rate); two.update(rate); three.update(rate);
        mean += loss;
        if (n % 100 == 0) {
            std::printf("%10ld %14.6E %14.4E\n", n, mean / 100, rate);
            mean = 0;
            if (++lines % 8 == 0) std::fflush(stdout);
        }
    }
}
